//! Which ports of a namespace wait for clients.

use std::fs;

/// Does any program in the namespace of this thread wait at a port, of TCP or UDP?
pub(crate) fn any_listens() -> bool {
    TABLES.iter().any(|(name, waiting)| {
        let table = fs::read_to_string(format!("/proc/thread-self/net/{name}"));
        table.is_ok_and(|table| listens(&table, waiting))
    })
}

/// Tables of sockets, and the state of one that waits: of TCP `LISTEN`, of UDP that of a socket without a peer.
const TABLES: [(&str, &str); 4] = [("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")];

fn listens(table: &str, waiting: &str) -> bool {
    table.lines().skip(1).any(|line| line.split_whitespace().nth(3) == Some(waiting))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connected_socket_does_not_wait() {
        let head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n";
        let row = |state| {
            format!("{head}   0: 00000000:1451 00000000:0000 {state} 00000000:00000000 00:00000000")
        };
        assert!(listens(&row("0A"), "0A") && listens(&row("07"), "07"));
        assert!(!listens(&row("01"), "0A") && !listens(head, "0A") && !listens("", "07"));
    }
}
