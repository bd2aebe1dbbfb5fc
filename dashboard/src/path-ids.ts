/**
 * An id as a part of an address. `.` and `..` stand for folders there, however they are escaped, and a browser takes
 * them out: such an id gets a mark before it, and so does one that begins with the mark.
 */
export const toPath = (id: string): string => (/^(?:~|\.{1,2}$)/.test(id) ? `~${id}` : id)

export const fromPath = (part: string): string => part.replace(/^~/, '')
