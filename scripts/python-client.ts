// A client in Python's standard library, from the OpenAPI document: an example of a generated one.

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

interface Operation {
  operationId: string
  description?: string
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}

interface Parameter {
  name: string
  in: string
  required?: boolean
  schema: Schema
}

interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
}

/** An argument of a method, and where it goes. */
interface Argument {
  /** in Python */
  name: string
  /** in the request */
  wire: string
  place: 'path' | 'query' | 'body'
  type: string
  required: boolean
}

const HEAD = `"""Client of the Tollgate Admin API, for Python 3.8 or later, without dependencies.

Generated from server/schema/openapi.json by \`npm run schema\`. Do not edit.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any, Dict, Iterator, List, Literal, Optional, TypedDict, Union

RETRIES = 2


class TollgateError(Exception):
    """An error of the service. \`code\` is stable, the text is for people."""

    def __init__(self, problem: Dict[str, Any]) -> None:
        super().__init__(problem["detail"])
        self.code: str = problem["code"]
        self.status: int = problem["status"]
        self.field: Optional[str] = problem.get("field")
        self.request_id: str = problem["requestId"]
        self.retry_after: Optional[int] = problem.get("retryAfter")


class _Omitted:
    pass


OMITTED = _Omitted()
"""Default of optional arguments. None is sent, as null."""

`

const TAIL = `
    def each(self, method: Any, **arguments: Any) -> Iterator[Any]:
        """All items of a list, page by page: \`client.each(client.users)\`."""
        after: Union[str, _Omitted, None] = OMITTED
        while after is not None:
            page = method(after=after, **arguments)
            yield from page["data"]
            after = page["next"]

    def _send(
        self, method: str, path: str, query: Dict[str, Any], body: Optional[Dict[str, Any]], key: Optional[str]
    ) -> Any:
        given = {name: value for name, value in query.items() if value is not OMITTED}
        text = {name: str(value).lower() if isinstance(value, bool) else value for name, value in given.items()}
        url = self._url + path + ("?" + urllib.parse.urlencode(text, doseq=True) if text else "")
        headers = {"Authorization": "Bearer " + self._api_key}
        data = None
        if body is not None:
            sent = {name: value for name, value in body.items() if value is not OMITTED}
            data = json.dumps(sent).encode()
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers["Idempotency-Key"] = key
        for left in range(RETRIES, -1, -1):
            request = urllib.request.Request(url, data, headers, method=method)
            try:
                with urllib.request.urlopen(request, timeout=self._timeout) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                with error:
                    failure = TollgateError(json.load(error))
                if left == 0 or failure.retry_after is None:
                    raise failure from None
                time.sleep(failure.retry_after)
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                if left == 0:
                    raise


def _encoded(value: str) -> str:
    return urllib.parse.quote(value, safe="")
`

export function pythonClient(document: OpenApi): string {
  const types = Object.entries(document.components.schemas)
    .filter(([name]) => name !== 'Problem')
    .map(([name, schema]) => typeOf(name, schema))
  const methods = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      // A stream does not end, so it is not a call.
      .filter(([, { responses }]) => !responses['200']?.content?.['text/event-stream'])
      .map(([method, operation]) => methodOf(document, method, path, operation)),
  )
  const client = `

class Tollgate:
    """The operations of the Admin API.

    Calls that change something send an Idempotency-Key: \`request_key\`, or a generated one. Retries repeat it.
    """

    def __init__(self, url: str, api_key: str, timeout: float = 30) -> None:
        self._url = url.rstrip("/")
        self._api_key = api_key
        self._timeout = timeout
`
  return `${HEAD}${types.join('\n')}\n${client}${methods.join('')}${TAIL}`
}

/** A named type. Written as a call, since \`from\` is a keyword in a class. */
function typeOf(name: string, { enum: values, properties = {}, required = [] }: Schema): string {
  if (values) return `${name} = Literal[${values.map((value) => JSON.stringify(value)).join(', ')}]`
  const fields = Object.entries(properties).map(
    ([field, schema]) => `        ${JSON.stringify(field)}: ${JSON.stringify(annotation(schema))},\n`,
  )
  const partial = required.length < fields.length ? ' total=False,\n' : ''
  return `${name} = TypedDict(\n    ${JSON.stringify(name)},\n    {\n${fields.join('')}    },\n${partial && `   ${partial}`})`
}

function annotation({ $ref, type, items, anyOf }: Schema): string {
  if ($ref !== undefined) return nameIn($ref)
  if (anyOf) return optional(anyOf.filter((one) => one.type !== 'null').map(annotation))
  if (Array.isArray(type)) {
    return optional(
      type.filter((one) => one !== 'null').map((one) => annotation({ type: one, ...(items && { items }) })),
    )
  }
  if (type === 'array') return `List[${annotation(items ?? {})}]`
  const scalars: Record<string, string> = { string: 'str', integer: 'int', number: 'float', boolean: 'bool' }
  return scalars[type ?? ''] ?? 'Dict[str, Any]'
}

const optional = ([type = 'Any']: string[]): string => `Optional[${type}]`
const nameIn = ($ref: string): string => $ref.slice($ref.lastIndexOf('/') + 1)
const KEYWORDS = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if
  import in is lambda nonlocal not or pass raise return try while with yield`.split(/\s+/),
)

/** A name as Python spells it. A keyword gets an underscore behind it. */
function snake(name: string): string {
  const spelt = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return KEYWORDS.has(spelt) ? `${spelt}_` : spelt
}

function methodOf(document: OpenApi, method: string, path: string, operation: Operation): string {
  const args = argumentsOf(document, operation)
  const keyed = (operation.parameters ?? []).some(
    (one) => '$ref' in one && one.$ref.endsWith('IdempotencyKey'),
  )
  const declared = [
    ...args.filter(({ required }) => required).map(({ name, type }) => `${name}: ${type}`),
    ...args
      .filter(({ required }) => !required)
      .map(({ name, type }) => `${name}: Union[${type}, _Omitted] = OMITTED`),
    ...(keyed ? ['request_key: Optional[str] = None'] : []),
  ]
  const valuesIn = (place: Argument['place']) =>
    `{${args
      .filter((arg) => arg.place === place)
      .map(({ wire, name }) => `${JSON.stringify(wire)}: ${name}`)
      .join(', ')}}`
  const url = args
    .filter(({ place }) => place === 'path')
    .reduce((text, { wire, name }) => text.replace(`{${wire}}`, `{_encoded(${name})}`), path)
  const sent = [
    JSON.stringify(method.toUpperCase()),
    `${url.includes('{') ? 'f' : ''}${JSON.stringify(url)}`,
    valuesIn('query'),
    operation.requestBody ? valuesIn('body') : 'None',
    keyed ? 'request_key or str(uuid.uuid4())' : 'None',
  ]
  const parameters = ['self', ...(declared.length > 0 ? ['*', ...declared] : [])]
  const text = operation.description
  return `
    def ${snake(operation.operationId)}(
        ${parameters.join(',\n        ')},
    ) -> ${resultOf(operation)}:
${text ? `        """${text}"""\n` : ''}        return self._send(
            ${sent.join(',\n            ')},
        )
`
}

function argumentsOf({ components }: OpenApi, { parameters = [], requestBody }: Operation): Argument[] {
  const outside = parameters
    .filter((one): one is Parameter => 'name' in one)
    .map(
      ({ name, in: place, required = false, schema }): Argument => ({
        name: snake(name),
        wire: name,
        place: place === 'path' ? 'path' : 'query',
        type: annotation(schema),
        required,
      }),
    )
  const schema = requestBody?.content['application/json']?.schema ?? {}
  const { properties = {}, required = [] } =
    schema.$ref === undefined ? schema : (components.schemas[nameIn(schema.$ref)] ?? {})
  const taken = outside.map(({ name }) => name)
  const inside = Object.entries(properties).map(
    ([wire, property]): Argument => ({
      // The id of an updated user stands in the path; its new one in the body.
      name: taken.includes(snake(wire)) ? `new_${snake(wire)}` : snake(wire),
      wire,
      place: 'body',
      type: annotation(property),
      required: required.includes(wire),
    }),
  )
  return [...outside, ...inside]
}

function resultOf({ responses }: Operation): string {
  const schema = (responses['201'] ?? responses['200'])?.content?.['application/json']?.schema ?? {}
  return annotation(schema)
}
