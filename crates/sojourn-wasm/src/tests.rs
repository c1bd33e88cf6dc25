//! Modules that are right, and modules that are hostile, in each engine that is built.

use std::sync::Arc;

use sojourn::{Parts, Simulation, Source};
use sojourn_parts::{Hook, Program, Setting, Watch, register};

use super::abi;

type Read = fn(&[u8], &str) -> Result<Arc<dyn Program>, String>;

fn engines() -> Vec<Read> {
    vec![
        super::interpreter::machine::read,
        #[cfg(feature = "compiler")]
        super::compiler::machine::read,
    ]
}

/// A law whose hooks are what a test is about. The text of its declaration is at 4096.
fn law(functions: &str) -> String {
    let declaration = r#"{\"role\": \"law\", \"name\": \"mine\"}\00"#;
    format!(
        r#"(module (memory (export "memory") 1)
        (func (export "sojourn_abi") (result i32) (i32.const 1))
        (func (export "sojourn_declaration") (result i32) (i32.const 4096))
        (func (export "sojourn_numbers") (result i32) (i32.const 0))
        (func (export "sojourn_answers") (result i32) (i32.const 512))
        (data (i32.const 4096) "{declaration}")
        {functions})"#
    )
}

/// With a start, and a hook that does this.
fn hook(body: &str) -> String {
    let start = r#"(func (export "sojourn_start") (param i64 i32) (result i32) (i32.const 7))"#;
    let types = "(param i32 i32 i32) (result i32)";
    law(&format!(r#"{start} (func $hook (export "on_departure") {types} {body})"#))
}

fn module(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Why a module is refused.
fn refusal(read: Read, bytes: &[u8]) -> String {
    read(bytes, "").err().expect("it should be refused")
}

/// Why the hook of a module fails.
fn failure(read: Read, body: &str) -> String {
    let program = read(&module(&hook(body)), "").unwrap();
    let mut instance = program.start(&[], 1).unwrap();
    let called = instance.call(Hook::OnDeparture, &[1.0; 6], &mut Vec::new());
    called.expect_err("it should fail").to_string()
}

#[test]
fn a_hook_gets_numbers_and_answers_some() {
    for read in engines() {
        // The answers are the last number and the instance.
        let body = "(f64.store (local.get 2) (f64.load offset=40 (local.get 1)))
            (f64.store offset=8 (local.get 2) (f64.convert_i32_s (local.get 0))) (i32.const 2)";
        let program = read(&module(&hook(body)), "abc").unwrap();
        assert_eq!((&*program.declaration().name, &*program.declaration().digest), ("mine", "abc"));
        assert_eq!(program.declaration().hooks, [Hook::OnDeparture]);
        let mut instance = program.start(&[], 1).unwrap();
        let mut answers = Vec::new();
        instance.call(Hook::OnDeparture, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.5], &mut answers).unwrap();
        assert_eq!(answers, [6.5, 7.0]);
    }
}

#[test]
fn a_start_gets_the_seed_and_the_parameters() {
    let declaration = concat!(
        r#"{\"role\": \"law\", \"name\": \"mine\", \"parameters\": [{\"name\": \"a\", \"default\": 1}, "#,
        r#"{\"name\": \"b_ms\", \"unit\": \"ms\", \"default\": 2}], \"gauges\": [{\"name\": \"c\"}]}\00"#
    );
    let functions = format!(
        r#"(data (i32.const 8192) "{declaration}")
        (func (export "sojourn_start") (param i64 i32) (result i32)
            (f64.store (i32.const 4000) (f64.load offset=8 (local.get 1)))
            (f64.store (i32.const 4008) (f64.convert_i64_u (local.get 0))) (i32.const 0))
        (func (export "on_empty") (param i32 i32 i32) (result i32) (i32.const 0))
        (func (export "gauges") (param i32 i32 i32) (result i32)
            (f64.store (local.get 2) (f64.add (f64.load (i32.const 4000)) (f64.load (i32.const 4008)))) (i32.const 1))"#
    );
    let text = law(&functions).replacen("(i32.const 4096)", "(i32.const 8192)", 1);
    for read in engines() {
        let program = read(&module(&text), "").unwrap();
        let mut values = Vec::new();
        program
            .start(&[Setting::Number(1.0), Setting::Number(0.5)], 40)
            .unwrap()
            .gauges(&mut values)
            .unwrap();
        assert_eq!(values, [40.5]);
    }
}

#[test]
fn what_is_no_part_is_refused_in_a_line() {
    let no_abi = hook("(i32.const 0)").replace("sojourn_abi", "abi");
    let other =
        hook("(i32.const 0)").replace("(result i32) (i32.const 1))", "(result i32) (i32.const 3))");
    let imports =
        hook("(i32.const 0)").replace("(module", r#"(module (import "env" "print" (func))"#);
    let beyond = hook("(i32.const 0)").replacen("(i32.const 4096)", "(i32.const -9)", 1);
    let endless_text = hook("(i32.const 0)").replace(r"}\00", &format!("{}}}", " ".repeat(70_000)));
    let endless_text = endless_text.replace(r#""memory") 1"#, r#""memory") 2"#);
    let looping = law("(func $start (loop (br 0))) (start $start)");
    let large = hook("(i32.const 0)").replace(r#""memory") 1"#, r#""memory") 300"#);
    let no_room = hook("(i32.const 0)").replace("(i32.const 512)", "(i32.const 65000)");
    let odd = hook("(i32.const 0)").replace("(i32.const 512)", "(i32.const 513)");
    let no_hook =
        law(r#"(func (export "sojourn_start") (param i64 i32) (result i32) (i32.const 7))"#);
    let wrong = hook("(i32.const 0)")
        .replace("(param i32 i32 i32) (result i32)", "(param i32 i32) (result i32)");
    let of_control = hook("(i32.const 0)").replace("on_departure", "on_ack");
    let misspelt = hook("(i32.const 0)").replace("on_departure", "on_departed");
    let later = hook("(i32.const 0)").replace("on_departure", "on_sample");
    let own_hooks = hook("(i32.const 0)").replace(r#"\"mine\""#, r#"\"mine\", \"hooks\": []"#);
    for read in engines() {
        for (text, reported) in [
            ("(module)".to_owned(), "found no memory called memory"),
            (no_abi.clone(), "found no function sojourn_abi: () -> i32"),
            (other.clone(), "sojourn_abi: found 3; allowed: 1, 2"),
            (imports.clone(), "found the imports env.print; allowed: a module without imports"),
            (
                beyond.clone(),
                "sojourn_declaration: found no text with an end in the memory at 4294967287",
            ),
            (endless_text.clone(), "allowed: 65536 bytes at most, the last of them zero"),
            (looping.clone(), "found no end after 20 million instructions"),
            (large.clone(), "memory"),
            (no_room.clone(), "sojourn_answers: found no room for 256 floats at 65000"),
            (odd.clone(), "found no room for 256 floats at 513; allowed: a multiple of 8"),
            (no_hook.clone(), "found no hook; allowed in a law: on_arrival"),
            (wrong.clone(), "found no function on_departure: (i32, i32, i32) -> i32"),
            (of_control.clone(), "found on_ack in a law"),
            (misspelt.clone(), "found the function on_departed; allowed with sojourn_abi 1: on_"),
            (later.clone(), "found the function on_sample; allowed with sojourn_abi 1: on_"),
            (
                own_hooks.clone(),
                "found hooks; allowed: none, they are those that the module exports",
            ),
        ] {
            let found = refusal(read, &module(&text));
            assert!(found.contains(reported) && !found.contains('\n'), "{found}, not {reported}");
        }
        let cut = refusal(read, b"\0asm");
        assert!(cut.starts_with("found a module that cannot be read: "), "{cut}");
        assert!(
            cut.ends_with(
                "; allowed: a whole one, with what compilers of C and Rust use by \
                               default, no SIMD, threads or tail calls"
            ),
            "{cut}"
        );
        assert!(
            refusal(read, &vec![0; abi::MOST_MODULE_BYTES + 1])
                .contains("allowed: 1048576 at most")
        );
    }
}

#[test]
fn a_hook_that_misbehaves_fails_in_a_line() {
    for read in engines() {
        for (body, reported) in [
            ("(loop (br 0)) (i32.const 0)", "found no end after 20 million instructions"),
            ("(unreachable)", "unreachable"),
            ("(memory.grow (i32.const 1000))", "found more than 16 MiB of memory"),
            ("(drop (i32.load (i32.const -4))) (i32.const 0)", "out of bounds"),
            ("(i32.div_u (i32.const 1) (i32.const 0))", "zero"),
            ("(i32.const 257)", "found 257 answers; allowed: 0 to 256"),
            ("(i32.const -1)", "found -1 answers; allowed: 0 to 256"),
            ("(call $hook (local.get 0) (local.get 1) (local.get 2))", "stack"),
        ] {
            let found = failure(read, body);
            assert!(found.contains(reported) && !found.contains('\n'), "{found}, not {reported}");
        }
    }
}

/// The page knows hooks by these numbers.
#[test]
fn hooks_have_their_places() {
    assert!(super::declaration::hooks().enumerate().all(|(place, hook)| place == hook as usize));
}

#[test]
fn instances_have_a_memory_each() {
    let body = "(f64.store (i32.const 4000) (f64.add (f64.load (i32.const 4000)) (f64.const 1)))
        (f64.store (local.get 2) (f64.load (i32.const 4000))) (i32.const 1)";
    for read in engines() {
        let program = read(&module(&hook(body)), "").unwrap();
        let mut instances: Vec<_> = (0..1000).map(|_| program.start(&[], 1).unwrap()).collect();
        for instance in &mut instances {
            let mut answers = Vec::new();
            instance.call(Hook::OnDeparture, &[0.0; 6], &mut answers).unwrap();
            assert_eq!(answers, [1.0]);
        }
    }
}

/// An operation may give a NaN of any bits; here all engines give the same ones.
#[test]
fn nans_have_the_same_bits() {
    let body = "(f64.store (local.get 2) (f64.convert_i64_u (i64.shr_u (i64.reinterpret_f64
        (f64.div (f64.load (local.get 1)) (f64.const 0))) (i64.const 48)))) (i32.const 1)";
    for read in engines() {
        let program = read(&module(&hook(body)), "").unwrap();
        let mut answers = Vec::new();
        program.start(&[], 1).unwrap().call(Hook::OnDeparture, &[0.0; 6], &mut answers).unwrap();
        assert_eq!(answers, [f64::from(0x7ff8)]);
    }
}

/// Queues, connections and traffic that need all hooks of the templates.
const HOME: &str = "
    duration_s = 4
    baseline = false
    upstream.sustained_mbps = 10
    downstream.sustained_mbps = 50
    servers.near.delay_ms = 10
    traffic.call = { kind = 'stream', purpose = 'voice' }
    traffic.upload = { kind = 'transfer', direction = 'up' }
";

/// A template: the settings that choose it, and its modules by language.
type Template = (&'static [&'static str], &'static [(&'static str, &'static [u8])]);

const TEMPLATES: [Template; 3] = [
    (
        &["upstream.queue.law={ kind = 'NAME', interval_ms = 20 }"],
        &[
            ("codel_rust", include_bytes!("../../../docs/own/codel-rust.wasm")),
            ("codel_c", include_bytes!("../../../docs/own/codel-c.wasm")),
        ],
    ),
    (
        &["servers.near.loss_percent=10", "tcp.congestion_control.kind='NAME'"],
        &[("aimd_rust", include_bytes!("../../../docs/own/aimd-rust.wasm"))],
    ),
    (
        &["traffic.backup={ kind = 'NAME', file_bytes = 5000, mean_pause_s = 0.1 }"],
        &[("backup_rust", include_bytes!("../../../docs/own/backup-rust.wasm"))],
    ),
];

fn fingerprint(parts: &Parts, sets: &[String]) -> u64 {
    let loaded = Source::new(HOME, "home.toml").sets(sets).parts(parts).load();
    let scenario = loaded.unwrap_or_else(|problems| panic!("{problems}")).remove(0).scenario;
    let watch = Watch::default();
    let results = watch.within(|| Simulation::run(&scenario));
    assert!(watch.failure().is_none(), "{:?}", watch.failure());
    results.fingerprint
}

/// Whole runs: what one engine rounded otherwise would move packets.
#[test]
fn runs_are_the_same_in_each_language_and_engine() {
    for (sets, modules) in TEMPLATES {
        let others = sets.iter().filter(|set| !set.contains("NAME"));
        let others: Vec<String> = others.map(|set| (*set).to_owned()).collect();
        let without = fingerprint(&Parts::default(), &others);
        let of = |read: Read, &(name, module): &(&str, &[u8])| {
            let parts = register(Parts::default(), read(module, "").unwrap()).unwrap();
            let sets: Vec<_> = sets.iter().map(|set| set.replace("NAME", name)).collect();
            fingerprint(&parts, &sets)
        };
        let each = engines()
            .into_iter()
            .flat_map(|read| modules.iter().map(move |module| of(read, module)));
        let found: Vec<u64> = each.collect();
        assert!(found.iter().all(|one| *one == found[0]), "{sets:?}: {found:?}");
        assert_ne!(found[0], without, "{sets:?}");
    }
}
