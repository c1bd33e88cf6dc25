// Maps values to screen positions, and places ticks.

const LOG_STEPS = [1, 2, 5];

/** A linear scale from the values `low` to `high` to the pixels `from` to `to`. */
export function linearScale(low, high, from, to) {
  const at = value => from + ((value - low) / (high - low || 1)) * (to - from);
  return { at, low, high, ticks: wanted => linearTicks(low, high, wanted) };
}

/** A logarithmic scale. */
export function logScale(low, high, from, to) {
  const linear = linearScale(Math.log10(low), Math.log10(high), from, to);
  return {
    at: value => linear.at(Math.log10(value)),
    low,
    high,
    ticks: wanted => logTicks(low, high, wanted),
  };
}

function linearTicks(low, high, wanted) {
  const rough = (high - low || 1) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(size => size >= rough);
  const ticks = [];
  for (let number = Math.ceil(low / step); number * step <= high * (1 + 1e-9); number++) {
    ticks.push(Number((number * step).toPrecision(12)));
  }
  return ticks;
}

function logTicks(low, high, wanted) {
  const ticks = [];
  for (let decade = Math.floor(Math.log10(low)); 10 ** decade <= high; decade++) {
    for (const step of LOG_STEPS) ticks.push(Number((step * 10 ** decade).toPrecision(6)));
  }
  const within = ticks.filter(tick => tick >= low && tick <= high);
  return within.length <= wanted
    ? within
    : within.filter(tick => Number.isInteger(Math.log10(tick)));
}
