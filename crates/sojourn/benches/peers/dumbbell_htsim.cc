// Cases `base` and `tiers` of the benchmark on csg-htsim, through a plain link: dumbbell_htsim key=value ...
// Without access_mbps servers have no links of their own. Prints the data packets that were acknowledged.
// There is no call, and each packet is acknowledged: its sinks know no other way.
#include <cstring>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

using Options = std::map<std::string, double>;

static const int PACKET_BYTES = 1500;
static const int PLENTY_PACKETS = 1000000;

static Options Read(int argc, char** argv)
{
    Options o = {{"flows", 11},   {"rtt_ms", 0},      {"mbps", 38},      {"limit", 2048},
                 {"access_mbps", 0}, {"window", 10000}, {"time", 200}};
    for (int i = 1; i < argc; i++)
    {
        const char* equals = strchr(argv[i], '=');
        const std::string key(argv[i], equals ? equals - argv[i] : 0);
        if (!o.count(key))
        {
            std::cerr << "unknown: " << argv[i] << "\n";
            exit(2);
        }
        o[key] = std::stod(equals + 1);
    }
    return o;
}

static Queue* Link(EventList& events, double mbps, int packets = PLENTY_PACKETS)
{
    return new Queue(speedFromMbps(mbps), memFromPkt(packets), events, nullptr);
}

int main(int argc, char** argv)
{
    Options o = Read(argc, argv);
    EventList events;
    events.setEndtime(timeFromSec(o["time"]));
    Packet::set_packet_size(PACKET_BYTES);
    srand(1);
    TcpRtxTimerScanner timers(timeFromMs(10), events);
    Queue* down = Link(events, o["mbps"], static_cast<int>(o["limit"]));
    Queue* up = Link(events, 1000);
    Pipe* cable[2] = {new Pipe(timeFromMs(0.1), events), new Pipe(timeFromMs(0.1), events)};
    std::vector<TcpSink*> sinks;
    for (int i = 0; i < o["flows"]; i++)
    {
        const double rtt_ms = o["rtt_ms"] ? o["rtt_ms"] : 30 + 10 * i;
        auto* source = new TcpSrc(nullptr, nullptr, events);
        source->_maxcwnd = static_cast<uint32_t>(o["window"]) * PACKET_BYTES;
        source->_ssthresh = UINT32_MAX;
        timers.registerTcp(*source);
        auto* sink = new TcpSink();
        auto* out = new route_t();
        auto* back = new route_t();
        if (o["access_mbps"])
            out->push_back(Link(events, o["access_mbps"]));
        out->push_back(new Pipe(timeFromMs(rtt_ms / 2 - 0.1), events));
        out->push_back(down);
        out->push_back(cable[0]);
        out->push_back(sink);
        back->push_back(up);
        back->push_back(cable[1]);
        if (o["access_mbps"])
            back->push_back(Link(events, o["access_mbps"]));
        back->push_back(new Pipe(timeFromMs(rtt_ms / 2 - 0.1), events));
        back->push_back(source);
        source->connect(*out, *back, *sink, timeFromSec(2 * drand()));
        sinks.push_back(sink);
    }
    while (events.doNextEvent())
    {
    }
    uint64_t bytes = 0;
    for (TcpSink* sink : sinks)
        bytes += sink->cumulative_ack();
    std::cout << bytes / PACKET_BYTES << std::endl;
}
