//! Pages as browsers of today load them: what a page takes against closed forms, and its requests and connections.

use crate::common::{flow, refused, scenario};
use sojourn::Simulation;
use sojourn::results::metrics::Results;

/// Pages from servers 42 ms away by a round trip, over plain links of this rate.
fn pages(rate_mbps: f64, server: &str, keys: &str) -> Results {
    Simulation::run(&scenario(&format!(
        "duration_s = 60
         cable.delay_ms = 1
         upstream = {{ sustained_mbps = {rate_mbps}, peak_mbps = {rate_mbps}, burst_bytes = 3000,
                       modem.kind = 'link' }}
         downstream = {{ sustained_mbps = {rate_mbps}, peak_mbps = {rate_mbps}, burst_bytes = 3000 }}
         servers.s = {{ delay_ms = 20, rate_mbps = 100_000, {server} }}
         metrics.connections = 1000
         traffic.pages = {{ kind = 'web', servers = ['s'], {keys} }}\n"
    )))
}

/// A document of 5 kB and an object of 5 kB, on a line so fast that only round trips of 42 ms and the 30 ms of
/// resolver and server count. The name: 42 + 30. The connection: 42 with TCP and 42 with TLS, or 42 with QUIC. The document:
/// 42 + 30, and then it is seen: 228 ms with HTTP/2 and 186 with HTTP/3. The object: 42 + 30 more.
#[test]
fn one_object_takes_its_round_trips() {
    for (protocol, first_ms) in [("h2", 228.0), ("h3", 186.0)] {
        let results = pages(
            1000.0,
            "",
            &format!(
                "protocol = '{protocol}', html_bytes = 5000,
                 objects = {{ kind = 'fixed', per_server = 1, bytes = 5000 }}"
            ),
        );
        let page = &results.pages[0];
        let (load_ms, render_ms) = (1e3 * page.load_time_s, 1e3 * page.first_render_s.unwrap());
        println!("{protocol}: {render_ms} ms, {load_ms} ms");
        // 10 kB and the handshake's packets take 0.1 ms.
        assert!((first_ms..first_ms + 0.5).contains(&render_ms), "{protocol}: {render_ms} ms");
        assert!((first_ms + 72.0..first_ms + 72.7).contains(&load_ms), "{protocol}: {load_ms} ms");
        let row = flow(&results, "pages", "down");
        assert!((row.first_render_median_s.unwrap() - render_ms / 1e3).abs() < 1e-3);
    }
}

/// A document of 5 kB and 40 objects of 10 kB over one connection at 10 Mbps. 228 or 186 ms until the document is there, of which
/// 5 kB take 4 ms beside; 42 + 30 until the first bytes of the objects; 400 kB in packets of 1500 B with 1448 of payload, at
/// 10 Mbps: 332 ms, or with QUIC's 1478 for 1417: 334 ms. Slow start from 14.5 kB doubles in each round trip of 42 ms, in which
/// the line carries 52 kB, so its first rounds of 14.5 and 29 kB waste at most (42 - 12) + (42 - 23) = 49 ms, and what the
/// handshake and the document have acknowledged makes the window larger. The requests are 40 * 331 B, or 11 ms of 10 Mbps upstream,
/// which overlap.
#[test]
fn many_objects_share_one_connection() {
    for (protocol, least_ms) in [("h2", 228.0 + 72.0 + 332.0), ("h3", 186.0 + 72.0 + 334.0)] {
        let results = pages(
            10.0,
            "",
            &format!(
                "protocol = '{protocol}', html_bytes = 5000, pause_s = 100,
                 objects = {{ kind = 'fixed', per_server = 40, bytes = 10_000 }}"
            ),
        );
        let load_ms = 1e3 * results.pages[0].load_time_s;
        println!("{protocol}: {load_ms} ms, at least {least_ms}");
        assert!((least_ms..least_ms + 4.0 + 49.0 + 11.0).contains(&load_ms), "{load_ms} ms");
        let connections = results.connections.iter().filter(|row| row.direction == "down");
        assert_eq!(connections.count(), 1);
    }
}

/// The next page begins `pause_s` after a page is there, however it was loaded. Clocks of homes are up to 50 ppm off.
#[test]
fn a_pause_follows_each_page() {
    for keys in [
        "protocol = 'h1', html_bytes = 5000",
        "protocol = 'h2', html_bytes = 5000",
        "protocol = 'h3', html_bytes = 5000",
        "objects.kind = 'almanac2025'",
    ] {
        let results = pages(1000.0, "", &format!("{keys}, pause_s = 7"));
        assert!(results.pages.len() >= 4, "{keys}: {} pages", results.pages.len());
        for pair in results.pages.windows(2) {
            let pause_s = pair[1].start_s - pair[0].start_s - pair[0].load_time_s;
            assert!((pause_s - 7.0).abs() < 7.0 * 50e-6, "{keys}: {pause_s} s");
        }
    }
}

/// Where packets are lost, what is behind one waits with HTTP/2, and only its own streams do with HTTP/3.
#[test]
fn losses_delay_pages_less_over_quic() {
    let keys = |protocol: &str| {
        format!(
            "protocol = '{protocol}', html_bytes = 5000, pause_s = 0.1,
             objects = {{ kind = 'fixed', per_server = 40, bytes = 10_000 }}"
        )
    };
    let median = |protocol: &str, server: &str| {
        flow(&pages(10.0, server, &keys(protocol)), "pages", "down").page_load_median_s.unwrap()
    };
    let lost = |protocol: &str| median(protocol, "loss_percent = 1") - median(protocol, "");
    let (h2, h3) = (lost("h2"), lost("h3"));
    println!("{h2} s, {h3} s");
    assert!(h3 > 0.0 && h3 < h2, "{h2} s and {h3} s");
}

/// Pages of today have 10 to 13 connections in the median, over all versions of HTTP.
#[test]
fn a_median_page_of_today_opens_ten_to_thirteen_connections() {
    let results = Simulation::run(&scenario(
        "duration_s = 250
         cable.delay_ms = 1
         upstream = { sustained_mbps = 40, peak_mbps = 40, burst_bytes = 3000, modem.kind = 'link' }
         downstream = { sustained_mbps = 400, peak_mbps = 400, burst_bytes = 3000 }
         servers = { a = { delay_ms = 9 }, b = { delay_ms = 9 } }
         metrics = { connections = 5000, series_interval_ms = 10_000 }
         traffic.pages = { kind = 'web', servers = ['a', 'b'], objects.kind = 'almanac2025', pause_s = 0.1 }\n",
    ));
    assert!(results.pages.len() > 200, "{}", results.pages.len());
    let opened = |start_s: f64, took_s: f64| {
        let within = |at: f64| (start_s..start_s + took_s).contains(&at);
        let down = results.connections.iter().filter(|row| row.direction == "down");
        down.filter(|row| within(row.start_s)).count()
    };
    let mut counts: Vec<usize> =
        results.pages.iter().map(|page| opened(page.start_s, page.load_time_s)).collect();
    counts.sort_unstable();
    let median = counts[counts.len() / 2];
    println!("{} pages, {median} connections", counts.len());
    assert!((10..=13).contains(&median), "{median}");
}

#[test]
fn keys_that_do_not_fit_the_protocol_are_refused() {
    let text = "duration_s = 5
                upstream.sustained_mbps = 5
                downstream.sustained_mbps = 20
                servers.s.delay_ms = 5
                traffic.pages = { kind = 'web' }\n";
    for (sets, place, found) in [
        (&["traffic.pages.server_ms=5"][..], "server_ms", "only with protocol h2, h3 or mixed"),
        (
            &["traffic.pages.protocol=h2", "traffic.pages.open_gap_ms=5"],
            "open_gap_ms",
            "allowed: 0",
        ),
        (
            &["traffic.pages.protocol=h2", "traffic.pages.tcp.transport=tcp"],
            "tcp.transport",
            "left out",
        ),
        (&["traffic.pages.protocol=h3", "dialect=ns2"], "protocol", "dialect ns2"),
        (&["traffic.pages.protocol=mixed", "tcp.congestion_control.kind=bbr3"], "protocol", "bbr3"),
    ] {
        let message = refused(text, sets);
        assert!(message.contains(place) && message.contains(found), "{message}");
    }
}
