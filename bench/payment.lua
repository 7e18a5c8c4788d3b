-- One payment of one leg for each request, each with a key of its own; the answer is awaited and must say that the
-- payment succeeded. For wrk: one thread, as many connections as there are clients.
--
-- BENCH_PROVIDER names the provider (card), BENCH_WAIT the seconds that the answer may take (the daemon's default), and
-- BENCH_PAUSE how long a client waits before each request, in ms: so many clients, so much load.
local counter = 0
local prefix = os.getenv("BENCH_PREFIX") or tostring(os.time())
local token = os.getenv("BENCH_TOKEN") or "test"
local provider = os.getenv("BENCH_PROVIDER") or "card"
local wait = os.getenv("BENCH_WAIT")
local pause = tonumber(os.getenv("BENCH_PAUSE") or "0")
-- Global, so that it can be read when all is done.
answers = {}

function request()
  counter = counter + 1
  local headers = {
    ["Authorization"] = "Bearer " .. token,
    ["Content-Type"] = "application/json",
    -- Letters in between: what might be a card number is refused, in keys as well.
    ["Idempotency-Key"] = prefix .. "k" .. counter,
  }
  if wait then headers["Prefer"] = "wait=" .. wait end
  local body = '{"amount":{"value":' .. (100 + counter % 9000) .. ',"currency":"JPY"},"capture":"automatic",' ..
    '"legs":[{"provider":"' .. provider .. '","instrument":"tok-' .. counter .. '","amount":{"value":' ..
    (100 + counter % 9000) .. ',"currency":"JPY"}}]}'
  return wrk.format("POST", "/v1/payments", headers, body)
end

function response(status, headers, body)
  local state = string.match(body, '"state":"(%a+)"') or tostring(status)
  answers[state] = (answers[state] or 0) + 1
end

-- Between half of the pause and one and a half, so that clients do not march in step.
if pause > 0 then
  function delay() return math.floor(pause * (0.5 + math.random())) end
end

local threads = {}
function setup(thread) table.insert(threads, thread) end

function done(summary, latency, requests)
  local total = 0
  for _, thread in ipairs(threads) do
    for state, count in pairs(thread:get("answers") or {}) do
      io.write(string.format("state %s %d\n", state, count))
    end
  end
  io.write(string.format("seconds %.3f\np50_ms %.3f\np99_ms %.3f\nerrors %d\n", summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
