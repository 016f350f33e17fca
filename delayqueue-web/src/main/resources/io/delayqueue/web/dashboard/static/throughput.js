// Throughput and lateness, from the counts of nodes since their start. Behind a load balancer
// another node may answer each request, so differences are computed per node and added.

const WINDOW = 60_000;

/**
 * Adds the counts of a node, and returns the recent activity of all nodes that answer:
 * { nodes, rate, p50, p95, p99 }, percentiles in milliseconds over a minute.
 */
export function follow(track, at, counted) {
  if (counted) {
    track.push({ at, node: counted.node, lateness: counted.lateness, begun: counted.lateness.reduce((sum, [, count]) => sum + count, 0) });
  }
  while (track.length > 0 && at - track[0].at > WINDOW) {
    track.shift();
  }
  const nodes = new Map();
  track.forEach((entry) => nodes.set(entry.node, [...nodes.get(entry.node) ?? [], entry]));
  const several = [...nodes.values()].filter((entries) => entries.length > 1);
  if (several.length === 0) {
    return null;
  }
  const rate = several.reduce((sum, entries) => sum + perSecond(entries.at(-2), entries.at(-1)), 0);
  const counts = new Map();
  several.forEach((entries) => {
    add(counts, entries.at(-1), 1);
    add(counts, entries[0], -1);
  });
  return { nodes: several.length, rate, p50: percentile(counts, 0.5), p95: percentile(counts, 0.95), p99: percentile(counts, 0.99) };
}

function perSecond(before, entry) {
  return positive(entry.begun - before.begun) * 1_000 / Math.max(1, entry.at - before.at);
}

/** Counts decrease when a listener is removed. */
function positive(difference) {
  return Math.max(0, difference);
}

function add(counts, entry, sign) {
  entry.lateness.forEach(([bound, count]) => counts.set(bound, (counts.get(bound) ?? 0) + sign * count));
}

function percentile(counts, part) {
  const all = [...counts.values()].reduce((sum, count) => sum + positive(count), 0);
  let seen = 0;
  for (const [bound, count] of [...counts].sort(([one], [other]) => one - other)) {
    seen += positive(count);
    if (count > 0 && seen >= all * part) {
      return bound / 1_000;
    }
  }
  return null;
}
