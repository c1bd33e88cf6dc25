//! A plain delay between two namespaces. Programs are this one, started again with a role, and those of the system.
#![cfg(target_os = "linux")]

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use nix::sched::{CloneFlags, unshare};
use sojourn::engine::packet::DropReason;
use sojourn::outside::{Arrived, Direction, Ecn, Lost, Time};
use sojourn_emulate::{Emulation, End, Line, Outcome, Place, Program, Streams};

/// A delay alone. It can mark all packets, or lose each that has another number.
#[derive(Default)]
struct Delay {
    now: Time,
    delay: Time,
    marks: bool,
    loses_odd: bool,
    /// Homes and directions of the packets that came.
    came: Vec<(usize, Direction)>,
    inside: VecDeque<Arrived>,
    lost: Vec<Lost>,
}

impl Line for Delay {
    fn now(&self) -> Time {
        self.now
    }

    fn inject(
        &mut self,
        at: Time,
        home: usize,
        direction: Direction,
        packet: &[u8],
        handle: u64,
    ) -> bool {
        assert!(at >= self.now);
        self.came.push((home, direction));
        if self.loses_odd && handle % 2 == 1 {
            let reason = DropReason::Link;
            self.lost.push(Lost { handle, entry: 0, direction, at, reason });
            return true;
        }
        let (first, second) = (packet[0], packet[1]);
        let class = if first >> 4 == 4 { second } else { first << 4 | second >> 4 };
        let ecn = if self.marks { Ecn::Ce } else { Ecn::NotEct };
        let (dscp, at) = (class >> 2, at + self.delay);
        self.inside.push_back(Arrived { handle, entry: 0, direction, ecn, dscp, ace: None, at });
        true
    }

    fn run_until(&mut self, at: Time) -> bool {
        self.now = at;
        true
    }

    fn next_wake(&self) -> Time {
        self.inside.front().map_or(Time::NEVER, |first| first.at)
    }

    fn arrived(&mut self, into: &mut Vec<Arrived>) {
        while self.inside.front().is_some_and(|first| first.at <= self.now) {
            into.extend(self.inside.pop_front());
        }
    }

    fn lost(&mut self, into: &mut Vec<Lost>) {
        into.append(&mut self.lost);
    }
}

/// A home and the server, or why this machine has none, which is printed.
fn ends() -> Option<(End, End)> {
    let (mut homes, server) = ends_of(&["home"])?;
    Some((homes.pop()?, server))
}

fn ends_of(names: &[&str]) -> Option<(Vec<End>, End)> {
    ends_with(names, None)
}

fn ends_with(names: &[&str], out: Option<Ipv4Addr>) -> Option<(Vec<End>, End)> {
    if let Err(error) = File::options().read(true).write(true).open("/dev/net/tun") {
        eprintln!("skipped: /dev/net/tun cannot be used here: {error}");
        return None;
    }
    let alone = || unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS);
    if let Err(error) = thread::spawn(alone).join().unwrap() {
        eprintln!("skipped: network namespaces cannot be made here: {error}");
        return None;
    }
    let homes =
        (0..).zip(names).map(|(number, name)| Place::home(number, vec![(*name).to_owned()]));
    let places: Arc<[Place]> = homes.chain([Place::server()]).collect();
    let mut ends: Vec<_> =
        places.iter().map(|place| End::new(place, &places, out).unwrap()).collect();
    let server = ends.pop()?;
    Some((ends, server))
}

/// This program in another role.
fn role(name: &str) -> Vec<String> {
    let own = env::current_exe().unwrap().to_str().unwrap().to_owned();
    ["env", &format!("{ROLE}={name}"), &own, "--exact", "a_program", "--nocapture"]
        .map(str::to_owned)
        .to_vec()
}

const ROLE: &str = "SOJOURN_ROLE";
const PORT: u16 = 7;

#[test]
fn a_program() {
    match env::var(ROLE).as_deref() {
        Ok("echo") => echo(),
        Ok("tcp") => talk("server"),
        Ok("tcp6") => talk(&Place::server().ipv6.to_string()),
        Ok("emulate") => emulate_for_ever(None),
        Ok("uplink") => emulate_for_ever(Some(Place::server().ipv4)),
        _ => {}
    }
}

fn echo() {
    let listener = TcpListener::bind(("::", PORT)).unwrap();
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        thread::spawn(move || {
            let mut reader = stream.try_clone().unwrap();
            std::io::copy(&mut reader, &mut stream).unwrap();
        });
    }
}

/// Sends a quarter of a megabyte, and gets the same back.
fn talk(host: &str) {
    let sent: Vec<u8> = (0..250_000_u32).map(|n| n.to_le_bytes()[n as usize % 3]).collect();
    let mut stream = TcpStream::connect((host, PORT)).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let writing = sent.clone();
    let writes = thread::spawn(move || {
        writer.write_all(&writing).unwrap();
        writer.shutdown(std::net::Shutdown::Write).unwrap();
    });
    let mut back = Vec::new();
    stream.read_to_end(&mut back).unwrap();
    writes.join().unwrap();
    assert!(back == sent);
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The exit status of a program, which has some time.
fn ended(mut program: Program) -> i32 {
    wait_until(|| program.poll().is_some());
    program.poll().unwrap()
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "it has taken a minute");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Runs a program at home while another one waits at the server.
fn emulated(line: Delay, server: &str, home: &[Vec<String>]) -> Option<Outcome> {
    let (at_home, at_server) = ends()?;
    let waits = at_server.start(role(server), Streams::default()).unwrap();
    wait_until(|| at_server.listens());
    let emulation = Emulation::start(line, &[&at_home], &at_server).unwrap();
    for program in home {
        let status = ended(at_home.start(program.clone(), Streams::default()).unwrap());
        assert_eq!(status, 0, "{program:?}");
    }
    drop(waits);
    Some(emulation.stop().unwrap().1)
}

#[test]
fn tcp_and_pings_cross_a_delay() {
    let line = Delay { delay: Time::from_ms(5), ..Delay::default() };
    let programs = [role("tcp"), role("tcp6"), words("ping -q -c 3 -i 0.1 -w 30 server")];
    let Some(outcome) = emulated(line, "echo", &programs) else { return };
    assert!(outcome.lateness.packets() > 300, "{}", outcome.lateness.packets());
    assert_eq!((outcome.refused_packets, outcome.unwritten_packets), (0, 0));
    assert!(outcome.lasted > Time::from_ms(5));
}

/// What the server sends goes to the home that it is for, and from one home to another through the server.
#[test]
fn homes_are_told_apart_and_reach_each_other() {
    let Some((homes, server)) = ends_of(&["home", "next"]) else { return };
    server.forward().unwrap();
    let line = Delay { delay: Time::from_ms(1), ..Delay::default() };
    let emulation = Emulation::start(line, &[&homes[0], &homes[1]], &server).unwrap();
    let ping = |end: &End, way, to| {
        let words = words(&format!("ping {way} -q -c 1 -W 30 {to}"));
        assert_eq!(ended(end.start(words, Streams::default()).unwrap()), 0, "{way} {to}");
    };
    ping(&homes[1], "-4", "server");
    ping(&server, "-6", "next");
    ping(&server, "-4", "home");
    ping(&homes[0], "-6", "next");
    ping(&homes[1], "-4", "home");
    let (line, outcome) = emulation.stop().unwrap();
    let (up, down) = (Direction::Up, Direction::Down);
    // A ping from the home to its neighbour and back crosses the line of each once in each direction.
    let expected: [&[_]; 5] = [
        &[(1, up), (1, down)],
        &[(1, down), (1, up)],
        &[(0, down), (0, up)],
        &[(0, up), (1, down), (1, up), (0, down)],
        &[(1, up), (0, down), (0, up), (1, down)],
    ];
    assert_eq!(line.came, expected.concat());
    assert_eq!((outcome.refused_packets, outcome.lateness.packets()), (0, 14));
}

/// TCP sends again what is lost, and its end sees each byte once.
#[test]
fn lost_packets_are_forgotten() {
    let Some((home, server)) = ends() else { return };
    let line = Delay { loses_odd: true, ..Delay::default() };
    let emulation = Emulation::start(line, &[&home], &server).unwrap();
    let pings =
        home.start(words("ping -q -c 6 -i 0.05 -W 1 198.18.0.2"), Streams::default()).unwrap();
    // Each second packet is lost: 0 arrives, its answer 1 is lost, 2 arrives and so on. None has an answer.
    assert_eq!(ended(pings), 1);
    let (line, outcome) = emulation.stop().unwrap();
    assert_eq!((outcome.inside_packets, line.lost.len()), (0, 0));
    assert_eq!(outcome.lateness.packets(), 6);
}

#[test]
fn marks_are_written_into_headers() {
    let line = Delay { marks: true, ..Delay::default() };
    let Some((home, server)) = ends() else { return };
    // 0xba: code point 46 with ECT(0); 0xbb: the same code point, with CE.
    let receive = "s.bind(('', 7)); s.setsockopt(0, socket.IP_RECVTOS, 1); \
                   assert s.recvmsg(9, 99)[1][0][2] == bytes([0xbb])";
    let send = "s.setsockopt(0, socket.IP_TOS, 0xba); s.sendto(b'x', ('server', 7))";
    let receiver = server.start(python(receive), Streams::default()).unwrap();
    wait_until(|| server.listens());
    let emulation = Emulation::start(line, &[&home], &server).unwrap();
    assert_eq!(ended(home.start(python(send), Streams::default()).unwrap()), 0);
    assert_eq!(ended(receiver), 0);
    emulation.stop().unwrap();
}

/// A program of Python with a socket `s` for datagrams.
fn python(text: &str) -> Vec<String> {
    let text =
        format!("import socket, sys\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n{text}");
    vec!["python3".to_owned(), "-c".to_owned(), text]
}

#[test]
fn programs_end_as_they_did() {
    let Some((home, _server)) = ends() else { return };
    let start = |text: &[&str]| {
        let words = text.iter().map(|word| (*word).to_owned()).collect();
        home.start(words, Streams::default())
    };
    assert_eq!(ended(start(&["sh", "-c", "exit 7"]).unwrap()), 7);
    assert_eq!(ended(start(&["sh", "-c", "kill -9 $$"]).unwrap()), 128 + 9);
    // A child that goes on does not keep it, and what ends it ends the child too.
    assert_eq!(ended(start(&["sh", "-c", "sleep 1000 & exit 0"]).unwrap()), 0);
    let sleeps = start(&["sleep", "1000"]).unwrap();
    sleeps.terminate();
    assert_eq!(ended(sleeps), 128 + 15);
    // It is in a namespace of processes of its own.
    assert_eq!(ended(start(&["sh", "-c", "test $$ -lt 10 && test -e /proc/$$/stat"]).unwrap()), 0);
    let refusal = |text| start(text).err().unwrap().to_string();
    assert!(refusal(&["/no/such/program"]).starts_with("/no/such/program: found no such program"));
    assert!(refusal(&["/etc/hosts"]).starts_with("/etc/hosts: found a file that is no program"));
}

/// What a run may leave behind in the namespaces of this thread: interfaces, routes, mounts, names.
fn traces() -> Vec<String> {
    let read = |file: &str| fs::read_to_string(file).unwrap();
    let devices = read("/proc/thread-self/net/dev");
    let interface = |line: &str| line.split(':').next().unwrap().to_owned();
    let interfaces: Vec<_> = devices.lines().skip(2).map(interface).collect();
    let files = ["/proc/thread-self/net/route", "/proc/thread-self/mountinfo", "/etc/hosts"];
    interfaces.into_iter().chain(files.map(read)).collect()
}

/// Processes whose environment has this mark.
fn marked(mark: &str) -> Vec<i32> {
    let numbers = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|one| one.unwrap().file_name().to_str()?.parse().ok());
    let has_mark = |number: &i32| {
        let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|one| one == mark.as_bytes())
    };
    numbers.filter(has_mark).collect()
}

fn emulate_for_ever(out: Option<Ipv4Addr>) {
    let Some((homes, server)) = ends_with(&["home"], out) else { return };
    let _uplink = out.map(|_| server.lead_out().unwrap());
    let home = &homes[0];
    let tree = ["sh", "-c", "sleep 1000 & sleep 1000"].map(str::to_owned).to_vec();
    let _programs = [home, &server].map(|end| end.start(tree.clone(), Streams::default()).unwrap());
    let line = Delay { delay: Time::from_ms(5), ..Delay::default() };
    let _emulation = Emulation::start(line, &[home], &server).unwrap();
    println!("under way");
    thread::sleep(Duration::from_secs(600));
}

/// Twenty times, or as often as KILLS says: at a random moment the parent, one of its children or both are killed.
#[test]
fn kills_leave_nothing() {
    if ends().is_some() {
        kill_often("emulate", 40_000);
    }
}

/// The same with a way out, into a network that the test makes.
#[test]
fn kills_leave_nothing_of_an_uplink() {
    if let Err(error) = Command::new("slirp4netns").arg("--version").output() {
        eprintln!("skipped: slirp4netns cannot be used here: {error}");
        return;
    }
    if ends().is_some() {
        let own = || {
            unshare(CloneFlags::CLONE_NEWNET).unwrap();
            kill_often("uplink", 160_000);
        };
        thread::spawn(own).join().unwrap();
    }
}

/// At moments within the time that it takes to start, and some more.
fn kill_often(role: &str, most_us: u64) {
    let kills = env::var("KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    let before = traces();
    let mut random = 7_u64;
    for number in 0..kills {
        let mark = format!("SOJOURN_MARK={}.{number}", std::process::id());
        let mut parent = start_marked(role, &mark);
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        thread::sleep(Duration::from_micros((random >> 33) % most_us));
        let own = parent.id() as i32;
        let others: Vec<_> = marked(&mark).into_iter().filter(|one| *one != own).collect();
        let child = (!others.is_empty()).then(|| others[(random >> 20) as usize % others.len()]);
        if let (Some(child), 1 | 2) = (child, number % 3) {
            kill(child);
        }
        if number % 3 == 1 {
            // The others go on, as after any program that ends.
            thread::sleep(Duration::from_millis(2));
        }
        kill(own);
        parent.wait().unwrap();
        wait_until(|| marked(&mark).is_empty());
    }
    assert_eq!(traces(), before);
}

fn start_marked(name_of_role: &str, mark: &str) -> Child {
    let (name, value) = mark.split_once('=').unwrap();
    let words = role(name_of_role);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env(name, value).stdout(Stdio::null()).spawn().unwrap()
}

fn kill(process: i32) {
    let _ = nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(process),
        nix::sys::signal::Signal::SIGKILL,
    );
}

/// Two runs at once have the same addresses and do not meet.
#[test]
fn two_runs_do_not_meet() {
    let Some((home, _server)) = ends() else { return };
    let Some((_other_home, other_server)) = ends() else { return };
    let line = Delay::default();
    let emulation = Emulation::start(line, &[&home], &_server).unwrap();
    let listens = other_server.start(role("echo"), Streams::default()).unwrap();
    wait_until(|| other_server.listens());
    // Nobody listens at the server of this run.
    let connect = "try: socket.create_connection(('server', 7), 5)\n\
                   except ConnectionRefusedError: sys.exit(9)";
    assert_eq!(ended(home.start(python(connect), Streams::default()).unwrap()), 9);
    drop(listens);
    emulation.stop().unwrap();
}
