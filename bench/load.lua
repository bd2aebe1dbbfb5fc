-- Sends one request over and over, each time with another number at random.
-- Arguments: the body, the text in it to replace by a number, the highest number, the headers as lines, a seed, a
-- text that every answer must hold (empty: answers are not looked at), and the factor that scatters the numbers of a Zipf
-- distribution (empty: uniform).
local head, tail, digits, most, scatter
local threads = {}
wrong = 0

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  local body, mark, expect = args[1], args[2], args[6]
  local headers = { ["Content-Type"] = "application/json" }
  for name, value in args[4]:gmatch("([^:\n]+): ([^\n]*)") do headers[name] = value end
  local text = wrk.format("POST", nil, headers, body)
  local at = text:find(mark, 1, true)
  head, tail = text:sub(1, at - 1), text:sub(at + #mark)
  digits = "%0" .. #mark .. "d"
  most = tonumber(args[3])
  scatter = tonumber(args[7])
  math.randomseed(tonumber(args[5]))
  if expect ~= "" then
    response = function(_, _, answer)
      if not answer:find(expect, 1, true) then wrong = wrong + 1 end
    end
  end
end

-- As anyUser in distribution.ts.
local function number()
  if not scatter then return math.random(most) end
  local rank = math.floor((1 + (2 * most + 1) ^ math.random()) / 2)
  return rank * scatter % most + 1
end

function request()
  return head .. digits:format(number()) .. tail
end

function done(summary, latency)
  local unexpected = 0
  for _, thread in ipairs(threads) do unexpected = unexpected + thread:get("wrong") end
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"micros":%d,"bytes":%d,"failures":%d,"wrong":%d,"p50":%f,"p99":%f}\n',
    summary.requests, summary.duration, summary.bytes,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    unexpected, latency:percentile(50), latency:percentile(99)))
end
