// Starting points for the page. The schema of scenario files describes every key, and the page can change all.

/**
 * How long to simulate: until a film has climbed its ladder and is watched for 10 s. A run should take less
 * than a second. The duration therefore shrinks in proportion if the sustained rates of both directions add
 * up to more than `quickMbps`. It is never below `quickS`: shorter uploads have no grade.
 */
export const DURATION = { usualS: 90, quickMbps: 200, quickS: 20 };
export const FIRST = { settings: ["drop_tail", "docsis_pie"], service: "white2013" };

/** One-way delays. With 1 ms of cable, round-trip times are 20, 2, 20, 30, 50, 100, 20 and 80 ms. */
export const SERVERS = {
  files: { delay_ms: 9 },
  peer: { delay_ms: 0 },
  web1: { delay_ms: 9 },
  web2: { delay_ms: 14 },
  web3: { delay_ms: 24 },
  web4: { delay_ms: 49 },
  video: { delay_ms: 9 },
  peers: { delay_ms: 39 },
};

/** Services of studies and of today. */
export const SERVICES = {
  white2013: {
    label: "5 Mbps up, 20 in bursts; 20 down (White & Rice 2013)",
    upstream: { sustained_mbps: 5, peak_mbps: 20, burst_bytes: 10_000_000 },
    downstream: {
      sustained_mbps: 20,
      peak_mbps: 50,
      burst_bytes: 10_000_000,
      queue: { limit_bytes: 250_000 },
    },
  },
  two_queues: {
    label: "5 Mbps up through a two-queue modem (White & Padden 2012)",
    upstream: {
      sustained_mbps: 5,
      peak_mbps: 20,
      burst_bytes: 10_000_000,
      modem: { kind: "two_queues" },
    },
    downstream: { sustained_mbps: 20, peak_mbps: 50, burst_bytes: 20_000_000 },
  },
  congested: {
    label: "5 Mbps up on a congested channel (White & Rice 2013)",
    upstream: {
      sustained_mbps: 5,
      peak_mbps: 20,
      burst_bytes: 10_000_000,
      congestion: { levels_mbps: [1.7, 3.3, 5, 12.5], step_s: 2 },
    },
    downstream: {
      sustained_mbps: 20,
      peak_mbps: 50,
      burst_bytes: 10_000_000,
      queue: { limit_bytes: 250_000 },
    },
  },
  evening: {
    label: "10 Mbps up, 20 in bursts; 100 down",
    upstream: { sustained_mbps: 10, peak_mbps: 20, burst_bytes: 10_000_000 },
    downstream: { sustained_mbps: 100, peak_mbps: 150, burst_bytes: 20_000_000 },
  },
  white2014: {
    label: "200 Mbps up, 1000 down (White 2014)",
    upstream: { sustained_mbps: 200, peak_mbps: 250, burst_bytes: 30_000_000 },
    downstream: {
      sustained_mbps: 1000,
      peak_mbps: 1500,
      burst_bytes: 330_000_000,
      queue: { limit_bytes: 250_000 },
    },
  },
};

/** Queue managers by name: `label`, `queue`, maybe `only_for` and `note`. The core has them, and the page its own. */
export const QUEUES = {};

/**
 * Activities of the household. `countKey` is the key of the entry that holds the count; without it, there
 * is one entry for each. A torrent has 16 peers. `payload` is the direction of most bytes. Games and calls
 * have the code points NQB and EF, which Low Latency DOCSIS looks at.
 */
export const ACTIVITIES = {
  game: {
    label: "Games",
    count: 1,
    most: 8,
    payload: "up",
    entry: { kind: "stream", purpose: "game", server: "peer", dscp: 45 },
  },
  call: {
    label: "Voice calls",
    count: 1,
    most: 8,
    payload: "up",
    entry: { kind: "stream", purpose: "voice", server: "peer", dscp: 46 },
  },
  video_call: {
    label: "Video calls",
    count: 0,
    most: 8,
    payload: "up",
    entry: { kind: "video_call", server: "peer", control: "gcc" },
  },
  cloud_game: {
    label: "Cloud games",
    count: 0,
    most: 4,
    payload: "down",
    entry: { kind: "cloud_game", server: "video" },
  },
  web: {
    label: "Web users",
    count: 1,
    most: 16,
    payload: "down",
    entry: {
      kind: "web",
      servers: ["web1", "web2", "web3", "web4"],
      objects: { kind: "almanac2025" },
      pause_s: 2,
      start_s: 1,
      start_spread_s: 2,
    },
    countKey: "users",
  },
  video: {
    label: "Video viewers",
    count: 0,
    most: 8,
    payload: "down",
    entry: { kind: "video", server: "video", start_spread_s: 2 },
    countKey: "viewers",
  },
  upload: {
    label: "Uploads",
    count: 1,
    most: 16,
    payload: "up",
    entry: { kind: "transfer", server: "files", start_spread_s: 1 },
    countKey: "connections",
  },
  download: {
    label: "Downloads",
    count: 0,
    most: 16,
    payload: "down",
    entry: { kind: "transfer", server: "files", direction: "down", start_spread_s: 1 },
    countKey: "connections",
  },
  responsiveness: {
    label: "Responsiveness tests (RPM)",
    count: 0,
    most: 1,
    payload: "down",
    entry: { kind: "responsiveness", server: "files", interval_s: 1, start_s: 10 },
  },
  torrent: {
    label: "Torrents",
    count: 0,
    most: 4,
    payload: "up",
    entry: {
      kind: "torrent",
      servers: ["peers"],
      connections: 16,
      start_spread_s: 2,
      tcp: { congestion_control: { kind: "ledbat" } },
    },
  },
};
