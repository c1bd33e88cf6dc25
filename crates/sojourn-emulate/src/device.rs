//! The TUN device of an end: what programs send is read from it, and what is written to it arrives.

use std::fs::{File, OpenOptions, write};
use std::io::{self, ErrorKind, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

use crate::error::{Error, Result};
use crate::place::Place;
use crate::uplink;

const NAME: &str = "cable0";
/// As on Ethernet.
const MTU: i32 = 1500;
/// Packets that wait until the loop reads them: more than any window that a kernel sends at once.
const QUEUE_PACKETS: i32 = 8192;
const DRIVER: &str = "/dev/net/tun";

/// A device in the namespace in which it was opened.
pub(crate) struct Device(File);

impl Device {
    /// Opens a device in the namespace of this thread and sets it up, with the loopback device.
    pub(crate) fn open(place: &Place) -> Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(DRIVER)
            .map_err(|error| Error::new(no_driver(&error)))?;
        let mut request = named(NAME);
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as i16;
        control(&file, libc::TUNSETIFF, &mut request)
            .map_err(Error::of_io("cannot make a TUN device"))?;
        set_up(place).map_err(Error::of_io("cannot set up the TUN device"))?;
        Ok(Self(file))
    }

    /// Reads a packet; none if there is no more.
    pub(crate) fn read<'a>(&self, buffer: &'a mut [u8]) -> io::Result<Option<&'a [u8]>> {
        match (&self.0).read(buffer) {
            Ok(bytes) => Ok(Some(&buffer[..bytes])),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a packet; false if the device takes none.
    pub(crate) fn write(&self, packet: &[u8]) -> bool {
        (&self.0).write(packet).is_ok()
    }

    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Lets the namespace of this thread forward packets, also back through the device by which they came.
pub(crate) fn forward() -> io::Result<()> {
    let set = |key: &str, value| write(format!("/proc/sys/net/{key}"), value);
    // A host on the same link would be told of a shorter way, which there is none.
    set("ipv4/conf/all/send_redirects", "0")?;
    set(&format!("ipv4/conf/{NAME}/send_redirects"), "0")?;
    set("ipv4/ip_forward", "1")?;
    match set("ipv6/conf/all/forwarding", "1") {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Lets the namespace of this thread answer for all homes at its way out.
pub(crate) fn lead_out() -> io::Result<()> {
    let name = uplink::NAME;
    write(format!("/proc/sys/net/ipv4/conf/{name}/proxy_arp"), "1")?;
    // It answers at once.
    write(format!("/proc/sys/net/ipv4/neigh/{name}/proxy_delay"), "0")
}

/// Sends what is for no host on the link to this one.
pub(crate) fn route_out(gateway: Ipv4Addr) -> io::Result<()> {
    // SAFETY: all zeros are a valid `rtentry`.
    #[allow(unsafe_code)]
    let mut route: libc::rtentry = unsafe { std::mem::zeroed() };
    route.rt_dst = ipv4([0; 4]);
    route.rt_genmask = ipv4([0; 4]);
    route.rt_gateway = ipv4(gateway.octets());
    route.rt_flags = libc::RTF_UP | libc::RTF_GATEWAY;
    control(&control_socket(AddressFamily::Inet)?, libc::SIOCADDRT, &mut route)
}

/// Packets that the device of this thread's namespace has dropped because nobody read them in time.
pub(crate) fn dropped_packets() -> u64 {
    let table = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let row =
        table.lines().find_map(|line| line.trim_start().strip_prefix(NAME)?.strip_prefix(':'));
    // Eight columns of what was received, then bytes, packets, errors and drops of what was sent.
    row.and_then(|row| row.split_whitespace().nth(11)?.parse().ok()).unwrap_or(0)
}

fn no_driver(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => {
            format!("{DRIVER}: not found; the kernel's driver gives it: sudo modprobe tun")
        }
        ErrorKind::PermissionDenied => {
            format!("{DRIVER}: found no right to open it; allow it with: sudo chmod 666 {DRIVER}")
        }
        _ => format!("{DRIVER}: {error}"),
    }
}

fn set_up(place: &Place) -> io::Result<()> {
    let socket = control_socket(AddressFamily::Inet)?;
    let mut request = named("lo");
    request.ifr_ifru.ifru_flags = libc::IFF_UP as i16;
    control(&socket, libc::SIOCSIFFLAGS, &mut request)?;
    let mut request = named(NAME);
    request.ifr_ifru.ifru_mtu = MTU;
    control(&socket, libc::SIOCSIFMTU, &mut request)?;
    request.ifr_ifru.ifru_metric = QUEUE_PACKETS;
    // A user namespace may not, and has the kernel's own 500; what a full queue drops is counted.
    let _ = control(&socket, libc::SIOCSIFTXQLEN, &mut request);
    request.ifr_ifru.ifru_addr = ipv4(place.ipv4.octets());
    control(&socket, libc::SIOCSIFADDR, &mut request)?;
    request.ifr_ifru.ifru_netmask = ipv4([255, 255, 0, 0]);
    control(&socket, libc::SIOCSIFNETMASK, &mut request)?;
    let has_ipv6 = quiet_ipv6();
    request.ifr_ifru.ifru_flags = libc::IFF_UP as i16;
    control(&socket, libc::SIOCSIFFLAGS, &mut request)?;
    if has_ipv6 { set_up_ipv6(&socket, place) } else { Ok(()) }
}

/// No messages of the kernel's own: nobody asks for routers or tests addresses. False without IPv6.
fn quiet_ipv6() -> bool {
    let set = |key, value| write(format!("/proc/sys/net/ipv6/conf/{NAME}/{key}"), value).is_ok();
    // 1: no address of the link alone.
    set("addr_gen_mode", "1") & set("router_solicitations", "0") & set("accept_dad", "0")
}

fn set_up_ipv6(socket: &OwnedFd, place: &Place) -> io::Result<()> {
    let mut request = named(NAME);
    control(socket, libc::SIOCGIFINDEX, &mut request)?;
    // SAFETY: the call before has set the index.
    #[allow(unsafe_code)]
    let ifr6_ifindex = unsafe { request.ifr_ifru.ifru_ifindex };
    let ifr6_addr = libc::in6_addr { s6_addr: place.ipv6.octets() };
    let mut request = libc::in6_ifreq { ifr6_addr, ifr6_prefixlen: 64, ifr6_ifindex };
    control(&control_socket(AddressFamily::Inet6)?, libc::SIOCSIFADDR, &mut request)
}

fn control_socket(family: AddressFamily) -> io::Result<OwnedFd> {
    Ok(socket(family, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?)
}

/// A request about the interface of a name.
fn named(name: &str) -> libc::ifreq {
    // SAFETY: all zeros are a valid `ifreq`.
    #[allow(unsafe_code)]
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = byte as libc::c_char;
    }
    request
}

fn ipv4(address: [u8; 4]) -> libc::sockaddr {
    let mut sa_data = [0; 14];
    for (place, byte) in sa_data[2..].iter_mut().zip(address) {
        *place = byte as libc::c_char;
    }
    libc::sockaddr { sa_family: libc::AF_INET as u16, sa_data }
}

/// Requests of the kernel whose argument has this type.
trait Request {}
impl Request for libc::ifreq {}
impl Request for libc::in6_ifreq {}
impl Request for libc::rtentry {}

#[allow(unsafe_code)]
fn control<T: Request>(file: &impl AsRawFd, request: libc::Ioctl, of: &mut T) -> io::Result<()> {
    // SAFETY: all requests of this file read and write no more than a structure of this type, which outlives the call.
    match unsafe { libc::ioctl(file.as_raw_fd(), request, of) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
