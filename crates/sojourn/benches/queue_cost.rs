//! What a queue manager costs: CPU time of one packet in and one packet out.
//!
//! Method: 1, 100 or 10 000 flows with packets waiting, 20 000 packets in all, so that what does not
//! depend on the number of flows is alike. Each packet that leaves is put back at once, as the next
//! of its flow, and what an AQM algorithm dropped is replaced; 0.1 us pass from one to the next. Once with
//! room to spare, and once with a full queue and one packet too many each time, which costs another
//! packet in and its victim's way out. The price includes updates of the AQM algorithms; CPU time is that of the
//! process. Of five runs the fastest is given.

use rustix::time::{ClockId, clock_gettime};
use sojourn::engine::aqm::DrainRate;
use sojourn::engine::dialect::Dialect;
use sojourn::engine::packet::{Direction, Ecn, Packet, Segment};
use sojourn::engine::queue::Queue;
use sojourn::engine::record::Recorder;
use sojourn::engine::units::{BitRate, Time};

const RUNS: usize = 5;
const PACKETS: u64 = 1_000_000;
const WAITING: u32 = 20_000;
const FLOWS: [u32; 3] = [1, 100, 10_000];
const STEP: Time = Time::from_ps(100_000);

const MANAGERS: [(&str, &str); 18] = [
    ("drop-tail", ""),
    ("CoDel", "law = { kind = 'codel' }"),
    ("CoDel-DT", "law = { kind = 'codel_dt' }"),
    ("PIE", "law = { kind = 'pie' }"),
    ("early PIE", "law = { kind = 'pie_early' }"),
    ("DOCSIS-PIE", "law = { kind = 'docsis_pie' }"),
    ("RED", "law = { kind = 'red' }"),
    ("BLUE", "law = { kind = 'blue' }"),
    ("GSP", "law = { kind = 'gsp' }"),
    ("AFD", "law = { kind = 'afd' }"),
    ("SFQ-CoDel, 32", "scheduler = { kind = 'sfq', bins = 32 }\nlaw = { kind = 'codel' }"),
    ("SFQ-CoDel", "scheduler = { kind = 'sfq' }\nlaw = { kind = 'codel' }"),
    (
        "SFQ-PIE, 32",
        "scheduler = { kind = 'sfq', bins = 32, one_law = true }\nlaw = { kind = 'pie' }",
    ),
    ("FQ-CoDel", "scheduler = { kind = 'fq' }\nlaw = { kind = 'codel' }"),
    ("DRR-CoDel", "scheduler = { kind = 'drr' }\nlaw = { kind = 'codel' }"),
    ("WFQ-CoDel", "scheduler = { kind = 'wfq' }\nlaw = { kind = 'codel' }"),
    ("SCFQ-CoDel", "scheduler = { kind = 'scfq' }\nlaw = { kind = 'codel' }"),
    ("ABB-CoDel, 3", "scheduler = { kind = 'abb' }\nlaw = { kind = 'codel' }"),
];

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// A packet of a flow, as a connection in the slot of that number has them.
fn packet(flow: u32) -> Packet {
    Packet {
        sent_at: Time::ZERO,
        queued_at: Time::ZERO,
        segment: Segment::default(),
        tuple: flow.wrapping_mul(0x9e37_79b1) >> 7,
        flow,
        generation: 0,
        traffic: 0,
        server: 0,
        home: 0,
        service_flow: 0,
        size: 1500,
        direction: Direction::Up,
        ecn: Ecn::NotEct,
        number: [0; 3],
    }
}

/// CPU time in ns for a packet in and a packet out.
fn run(keys: &str, flows: u32, is_full: bool) -> f64 {
    let spec = toml::from_str(keys).expect("it is a queue");
    let rate = BitRate::from_mbps(10_000.0);
    // With room to spare the queue is half full: algorithms inactive below a third are active.
    let limit = u64::from(WAITING) * 1500 * if is_full { 1 } else { 2 };
    let mut queue = Queue::new(&spec, limit, Dialect::Rfc, "upstream", 1);
    let mut recorder = Recorder::default();
    let drain_rate = DrainRate::steady(rate, limit);
    let mut now = Time::ZERO;
    for n in 0..WAITING {
        queue.enqueue(now, packet(n % flows), &drain_rate, &mut recorder);
    }
    let mut next_flow = 0;
    let start = cpu_seconds();
    for _ in 0..PACKETS {
        now += STEP;
        recorder.events.clear();
        if queue.next_update() <= now {
            queue.update(now, &drain_rate);
        }
        if let Some(packet) = queue.dequeue(now, &mut recorder) {
            queue.enqueue(now, packet, &drain_rate, &mut recorder);
        }
        if is_full || queue.backlog().packets < u64::from(WAITING) {
            next_flow = (next_flow + 1) % flows;
            queue.enqueue(now, packet(next_flow), &drain_rate, &mut recorder);
        }
    }
    (cpu_seconds() - start) * 1e9 / PACKETS as f64
}

fn main() {
    println!(
        "CPU ns per packet, in and out, by flows with packets waiting; fastest of {RUNS} runs"
    );
    println!("{:<15} {:>26}   {:>26}", "queue", "with room", "full");
    let flows = FLOWS.map(|flows| format!("{flows:>8}")).join(" ");
    println!("{:<15} {flows}   {flows}", "");
    for (name, keys) in MANAGERS {
        let cost =
            |flows, is_full| (0..RUNS).map(|_| run(keys, flows, is_full)).fold(1e9, f64::min);
        let cells = |is_full| FLOWS.map(|n| format!("{:>8.1}", cost(n, is_full))).join(" ");
        println!("{name:<15} {}   {}", cells(false), cells(true));
    }
}
