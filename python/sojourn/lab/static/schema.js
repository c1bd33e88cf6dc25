// Reads the JSON Schema of scenarios: kind of value, unit and range of a key.

const UNITS = {
  mbps: "Mbps",
  kbps: "kbps",
  hz: "1/s",
  ms: "ms",
  s: "s",
  bytes: "B",
  packets: "packets",
  percent: "%",
  segments: "segments",
  ksps: "ksps",
};

export class Schema {
  constructor(root) {
    this.root = root;
  }

  /** The node at a path of keys, such as "upstream.mac". */
  at(path) {
    return path.split(".").reduce((node, key) => this.resolve(node.properties[key]), this.root);
  }

  /** Resolves references in a node; keys next to a reference override it. */
  resolve(node) {
    if (node.$ref) {
      const { $ref, ...beside } = node;
      return this.resolve({ ...this.root.$defs[$ref.split("/").pop()], ...beside });
    }
    const some = node.anyOf?.filter(choice => choice.type !== "null");
    if (some?.length === 1) {
      const { anyOf, ...beside } = node;
      return { ...this.resolve(some[0]), ...beside, optional: true };
    }
    if (Array.isArray(node.type)) {
      const type = node.type.find(name => name !== "null");
      return { ...node, type, optional: node.type.includes("null") };
    }
    return node;
  }

  /** The node of a traffic entry of this kind: the keys of all entries and those of the kind. */
  entry(kind) {
    const node = this.resolve(this.root.properties.traffic.additionalProperties);
    const found = node.oneOf?.find(choice => this.resolve(choice).properties?.kind?.const === kind);
    if (!found) return undefined;
    const { properties, ...rest } = this.resolve(found);
    return { ...rest, properties: { ...node.properties, ...properties } };
  }

  /** The keys of a table with their nodes, in the order of the schema. */
  keys(node) {
    return Object.entries(node.properties ?? {}).map(([key, inner]) => [key, this.resolve(inner)]);
  }
}

/** The kind of form field for a value; undefined if the page does not edit it. */
export function kindOf(node) {
  if (node.oneOf?.every(choice => "const" in choice)) return "choice";
  if (node.oneOf?.every(choice => choice.properties?.kind)) return "variant";
  if (node.type === "number" || node.type === "integer") return "number";
  if (node.type === "boolean") return "switch";
  if (node.type === "array" && node.items?.type === "number") return "numbers";
  if (node.type === "object" && node.properties) return "table";
  return undefined;
}

/** The kinds of a table, by name. */
export function variants(node) {
  return Object.fromEntries(node.oneOf.map(choice => [choice.properties.kind.const, choice]));
}

/** The readable name of a key, and its unit. */
export function named(key) {
  const words = key.split("_");
  const unit = words.length > 1 ? UNITS[words.at(-1)] : undefined;
  if (unit) words.pop();
  return { name: words.join(" "), unit };
}
