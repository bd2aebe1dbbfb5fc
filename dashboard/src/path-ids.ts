/**
 * An id as a path segment. `.` and `..` mean folders there, however they are escaped, and browsers remove them: such an
 * id is prefixed with a mark, and so is one that starts with the mark.
 */
export const toPath = (id: string): string => (/^(?:~|\.{1,2}$)/.test(id) ? `~${id}` : id)

export const fromPath = (part: string): string => part.replace(/^~/, '')
