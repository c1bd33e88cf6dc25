// Cases `base` and `tiers` of the benchmark on ns-3.37, through a plain link; --help tells the options.
// Prints the data packets received and the events.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cmath>
#include <iostream>
#include <string>

using namespace ns3;

static const uint32_t MSS = 1460;

static void Defaults(uint32_t window)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(TypeId::LookupByName("ns3::TcpClassicRecovery")));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(MSS));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(100)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window * MSS));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window * MSS));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::DropTailQueue<Packet>::MaxSize", StringValue("1000000p"));
}

int main(int argc, char** argv)
{
    uint32_t flows = 11, rttMs = 0, mbps = 38, limit = 2048, accessMbps = 1000, window = 10000, time = 200;
    CommandLine cmd;
    cmd.AddValue("flows", "FTP flows", flows);
    cmd.AddValue("rtt_ms", "round trip; 0: flow i has 30 + 10 i", rttMs);
    cmd.AddValue("mbps", "rate of the bottleneck", mbps);
    cmd.AddValue("limit", "of its queue, in packets", limit);
    cmd.AddValue("access_mbps", "rate of the servers' links", accessMbps);
    cmd.AddValue("window", "in segments", window);
    cmd.AddValue("time", "simulated seconds", time);
    cmd.Parse(argc, argv);
    Defaults(window);

    NodeContainer core(2), servers(flows + 1);
    Ptr<Node> cmts = core.Get(0), home = core.Get(1);
    InternetStackHelper stack;
    Ipv4StaticRoutingHelper routing;
    stack.SetRoutingHelper(routing);
    stack.SetIpv6StackInstall(false);
    stack.InstallAll();

    auto rate = [](uint32_t r) { return StringValue(std::to_string(r) + "Mbps"); };
    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", rate(mbps));
    bottleneck.SetChannelAttribute("Delay", StringValue("0.1ms"));
    bottleneck.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));
    NetDeviceContainer ends = bottleneck.Install(cmts, home);
    ends.Get(1)->SetAttribute("DataRate", rate(1000));
    DynamicCast<PointToPointNetDevice>(ends.Get(1))->GetQueue()->SetMaxSize(QueueSize("1000000p"));
    TrafficControlHelper queue;
    queue.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue(std::to_string(limit) + "p"));
    queue.Install(ends.Get(0));

    Ipv4AddressHelper ip("10.1.0.0", "255.255.255.0");
    Ipv4InterfaceContainer inner = ip.Assign(ends);
    TrafficControlHelper().Uninstall(ends.Get(1));
    routing.GetStaticRouting(home->GetObject<Ipv4>())->SetDefaultRoute(inner.GetAddress(0), 1);

    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    ApplicationContainer sinks;
    for (uint32_t i = 0; i <= flows; ++i)
    {
        double ms = i == flows ? 80 : rttMs ? rttMs : 30 + 10 * i;
        PointToPointHelper access;
        access.SetDeviceAttribute("DataRate", rate(accessMbps));
        access.SetChannelAttribute("Delay", TimeValue(MicroSeconds(std::lround(500 * ms - 100))));
        NetDeviceContainer link = access.Install(servers.Get(i), cmts);
        ip.NewNetwork();
        Ipv4InterfaceContainer outer = ip.Assign(link);
        TrafficControlHelper().Uninstall(link);
        routing.GetStaticRouting(servers.Get(i)->GetObject<Ipv4>())->SetDefaultRoute(outer.GetAddress(1), 1);
        InetSocketAddress to(inner.GetAddress(1), 5000 + i);
        if (i < flows)
        {
            sinks.Add(PacketSinkHelper("ns3::TcpSocketFactory", to).Install(home));
            BulkSendHelper ftp("ns3::TcpSocketFactory", to);
            ftp.SetAttribute("SendSize", UintegerValue(MSS));
            ftp.Install(servers.Get(i)).Start(Seconds(start->GetValue(0, 2)));
        }
        else
        {
            // A call: 210 bytes, 238 with headers, every 20 ms.
            sinks.Add(PacketSinkHelper("ns3::UdpSocketFactory", to).Install(home));
            UdpClientHelper call(to.GetIpv4(), to.GetPort());
            call.SetAttribute("PacketSize", UintegerValue(210));
            call.SetAttribute("Interval", StringValue("20ms"));
            call.SetAttribute("MaxPackets", UintegerValue(4000000000u));
            call.Install(servers.Get(i)).Start(Seconds(0));
        }
    }
    Simulator::Stop(Seconds(time));
    Simulator::Run();

    uint64_t packets = 0;
    for (uint32_t i = 0; i <= flows; ++i)
    {
        uint64_t bytes = sinks.Get(i)->GetObject<PacketSink>()->GetTotalRx();
        packets += bytes / (i < flows ? MSS : 210);
    }
    std::cout << packets << " " << Simulator::GetEventCount() << "\n";
    Simulator::Destroy();
}
