// A number field: a slider for quick changes, and a box for exact values.

import { make } from "./dom.js";
import { numberOf } from "./toml.js";

const STEPS = 200;
/** The ratio of the slider's ends to its initial value. */
const REACH = 20;
/** The largest range with a linear slider; others are logarithmic. */
const EVEN = 20;

/**
 * The controls of a number. `change` is called with the new value, or undefined if the box is
 * empty. `names` are the ids of label and help.
 */
export function numberField(node, value, names, change) {
  const fallback = node.default ?? undefined;
  const box = make("input", {
    type: "number",
    step: "any",
    min: node.minimum,
    max: node.maximum,
    placeholder: fallback ?? "unset",
    required: fallback === undefined && !node.optional,
    "aria-labelledby": names.label,
    "aria-describedby": names.help,
    input: () => {
      slider?.follow(box.value);
      change(box.value === "" ? undefined : numberOf(box.value));
    },
  });
  box.value = value ?? fallback ?? "";
  const start = Number(value ?? fallback);
  const slider = Number.isFinite(start)
    ? new Slider(node, start, names, moved => {
        box.value = moved;
        change(moved);
      })
    : undefined;
  return slider ? [slider.element, box] : [box];
}

class Slider {
  constructor(node, start, names, moved) {
    this.isWhole = node.type === "integer";
    const { minimum = 0, maximum = Infinity } = node;
    this.isEven = maximum - minimum <= EVEN || start === 0;
    this.low = this.isEven ? minimum : Math.max(minimum, start / REACH);
    this.high = this.isEven ? Math.min(maximum, minimum + 100) : Math.min(maximum, start * REACH);
    this.element = make("input", {
      type: "range",
      min: 0,
      max: STEPS,
      step: 1,
      "aria-labelledby": names.label,
      input: () => {
        const value = this.valueAt(Number(this.element.value));
        this.element.setAttribute("aria-valuetext", value);
        moved(value);
      },
    });
    this.follow(start);
  }

  follow(value) {
    this.element.value = this.positionOf(Number(value));
    this.element.setAttribute("aria-valuetext", value);
  }

  valueAt(position) {
    const share = position / STEPS;
    const value = this.isEven
      ? this.low + share * (this.high - this.low)
      : this.low * (this.high / this.low) ** share;
    const rounded = this.isWhole
      ? Math.round(Number(value.toPrecision(3)))
      : Number(value.toPrecision(3));
    return Math.min(this.high, Math.max(this.low, rounded));
  }

  positionOf(value) {
    const share = this.isEven
      ? (value - this.low) / (this.high - this.low)
      : Math.log(Math.max(value, this.low) / this.low) / Math.log(this.high / this.low);
    return Math.round(STEPS * Math.min(1, Math.max(0, share)));
  }
}
