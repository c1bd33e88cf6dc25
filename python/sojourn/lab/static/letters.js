// Letters that stand for settings in figures, beside their colour and dashes.

export const LETTERS = "ABCDEFGHIJKL";
export const MOST_VARIANTS = LETTERS.length;
