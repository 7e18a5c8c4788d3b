-- Status inquiries at a provider, for transactions whose keys are the lines of the file BENCH_KEYS. For wrk. That a key
-- is not found is an answer too: a few requests of the backlog never left.
local keys = {}
for line in io.lines(os.getenv("BENCH_KEYS")) do keys[#keys + 1] = line end
local counter = 0

function request()
  counter = counter + 1
  return wrk.format("GET", "/points/transactions/" .. keys[counter % #keys + 1],
    {["Authorization"] = "Bearer bench-provider"})
end

function done(summary, latency, requests)
  io.write(string.format("rate %.1f\nerrors %d\n", summary.requests / summary.duration * 1e6,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
