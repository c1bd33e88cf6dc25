//! Names of the ends, for the programs of a namespace alone.

use std::fs;
use std::path::Path;

use nix::mount::{MntFlags, MsFlags, mount, umount2};

use crate::error::{Error, Result};
use crate::place::Place;
use crate::uplink::RESOLVER;

const HOSTS: &str = "/etc/hosts";
const SWITCH: &str = "/etc/nsswitch.conf";
const RESOLV: &str = "/etc/resolv.conf";
/// Hidden for the moment in which the files are made, and in this mount namespace alone.
const DESK: &str = "/tmp";

/// Puts files of its own over those of the machine that say what names mean. This thread has a mount namespace of its own.
/// With an uplink its resolver is asked for all other names.
pub(crate) fn set_names(places: &[Place], has_uplink: bool) -> Result<()> {
    let nothing: Option<&str> = None;
    mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_PRIVATE, nothing)
        .map_err(Error::of("cannot have mounts of its own"))?;
    let resolver = format!("nameserver {RESOLVER}\n");
    let files = [
        (HOSTS, hosts(places, &fs::read_to_string(HOSTS).unwrap_or_default())),
        (SWITCH, switch(&fs::read_to_string(SWITCH).unwrap_or_default())),
    ];
    mount(Some("sojourn"), DESK, Some("tmpfs"), MsFlags::empty(), Some("size=1m,mode=755"))
        .map_err(Error::of("cannot mount a file system for names"))?;
    for (file, text) in files.into_iter().chain(has_uplink.then_some((RESOLV, resolver))) {
        if Path::new(file).exists() {
            let own = Path::new(DESK).join(Path::new(file).file_name().expect("a file"));
            fs::write(&own, text).map_err(Error::of_io("cannot write names"))?;
            mount(Some(&own), file, nothing, MsFlags::MS_BIND, nothing)
                .map_err(Error::of("cannot mount names"))?;
        }
    }
    umount2(DESK, MntFlags::MNT_DETACH).map_err(Error::of("cannot take a mount away"))
}

/// The first line with a name counts, so those of the ends come first.
fn hosts(places: &[Place], of_machine: &str) -> String {
    let line = |place: &Place| {
        format!("{} {names}\n{} {names}\n", place.ipv4, place.ipv6, names = place.names.join(" "))
    };
    places.iter().map(line).collect::<String>() + of_machine
}

/// Names are looked up in the file: a resolver of the machine would not see it.
fn switch(of_machine: &str) -> String {
    let others = of_machine.lines().filter(|line| !line.trim_start().starts_with("hosts:"));
    let others: String = others.map(|line| format!("{line}\n")).collect();
    format!("hosts: files dns\n{others}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_ends_come_first() {
        let home = Place::home(0, vec!["home".to_owned(), "ours".to_owned()]);
        let text = hosts(&[home, Place::server()], "127.0.0.1 localhost\n");
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "198.18.0.1 home ours");
        assert_eq!(lines[3..], ["2001:2::2 server", "127.0.0.1 localhost"]);
    }

    #[test]
    fn only_the_line_of_hosts_changes() {
        let text = switch("passwd: files systemd\n hosts: resolve [!UNAVAIL=return] files\n");
        assert_eq!(text, "hosts: files dns\npasswd: files systemd\n");
    }
}
