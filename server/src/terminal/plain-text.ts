// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** Text on one line, without characters that move the cursor, change colours or reverse the direction of writing. */
export const plainText = (text: string): string => text.replace(CONTROL, '\ufffd')
