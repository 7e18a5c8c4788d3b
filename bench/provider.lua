-- What a payment of one two-phase leg asks of its provider: an authorization, and then its capture. For wrk; a request
-- is one of both, in turn for each payment that was begun.
--
-- BENCH_PAUSE as in payment.lua.
local counter = 0
local prefix = os.getenv("BENCH_PREFIX") or tostring(os.time())
local pause = tonumber(os.getenv("BENCH_PAUSE") or "0")
local bad = 0

-- A key has at least sixteen characters.
local function name(number) return string.format("%sk%012d", prefix, number) end

function request()
  counter = counter + 1
  -- With several connections the capture of a payment may overtake its authorization; a distance of a thousand is not
  -- overtaken. The first request is one that wrk asks for and never sends.
  local number = math.floor(counter / 2)
  local headers = {["Authorization"] = "Bearer bench-provider", ["Content-Type"] = "application/json"}
  if counter % 2 == 1 or number <= 1001 then
    local body = '{"kind":"authorize","amount":{"value":1200,"currency":"JPY"},"instrument":"tok-' .. number .. '"}'
    return wrk.format("PUT", "/card/transactions/" .. name(counter), headers, body)
  end
  local key = name(counter - 2001)
  local body = '{"amount":{"value":1200,"currency":"JPY"}}'
  return wrk.format("PUT", "/card/transactions/" .. key .. "/captures/" .. key .. "c", headers, body)
end

if pause > 0 then
  function delay() return math.floor(pause * (0.5 + math.random())) end
end

function done(summary, latency, requests)
  io.write(string.format("rate %.1f\np50_ms %.3f\np99_ms %.3f\nerrors %d\n", summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, summary.errors.connect + summary.errors.read +
    summary.errors.write + summary.errors.timeout + summary.errors.status))
end
