//! Links, lone and several, and channels at a distance, in a plant.

use super::*;
use crate::docsis::downstream_channel::Cmts;

/// Packets that wait for a link are sent one after the other: at 16 Mbps a packet takes 500 us.
#[test]
fn packets_wait_for_a_link() {
    let mut net = Homes::of(&[(1, LINK, "", None)]).start();
    (0..4).for_each(|number| net.up(MS(1), 0, number));
    let times: Vec<_> = net.all().iter().map(|(at, _)| *at).collect();
    assert!(times.len() == 4 && times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
}

/// A home's second flow has a link downstream of its own, which that of the first home is the second of all.
#[test]
fn service_flows_downstream_have_links_of_their_own() {
    let flows = "flows.calls = { sustained_mbps = 8, match = [] }\n";
    let mut net = Homes::of(&[(2, flows, flows, None)]).start();
    net.put(MS(1), Direction::Down, (0, 1), 0);
    assert_eq!(net.all(), [(US(2100), 0)]);
}

/// The request-grant loop of a shared channel is that of its farthest modem, 400 us one way.
#[test]
fn the_farthest_modem_sets_the_loop() {
    let delay = |groups: &[(u16, &'static str, &'static str, Option<f64>)]| {
        let mut homes = Homes::of(groups);
        homes.cable.fill(false);
        let plant = homes.with(Docsis::new);
        plant.channel.as_ref().unwrap().timing().request_loop().delay
    };
    let [near, far] = [0.0, 80.0].map(|km| (1, SHARED, "", Some(km)));
    assert_eq!(delay(&[near, far]), delay(&[far]));
    assert_eq!(delay(&[far, near]).since(delay(&[near])), US(800));
}

/// Priorities 0, 3 and 7 have three queues; while a packet is sent, 1010 us, the others wait, and the highest is next.
#[test]
fn the_highest_priority_goes_first() {
    let keys = ["", "priority = 3", "priority = 7"];
    let own: Vec<_> = keys.iter().map(|keys| format!("regulator = false\n{keys}")).collect();
    let groups: Vec<_> = own.iter().map(|keys| (1, "", keys.as_str(), None)).collect();
    let mut homes = Homes::of(&groups);
    homes.cmts = toml::from_str::<Cmts>("channel = { kind = 'rate', rate_mbps = 8 }").ok();
    let mut net = homes.start();
    for (home, number) in [(0, 0), (0, 1), (1, 2), (2, 3)] {
        net.down(MS(1), home, number);
    }
    net.run(MS(100));
    let order: Vec<_> = net.arrived.iter().map(|(_, number)| *number).collect();
    assert_eq!(order, [0, 3, 2, 1]);
}
