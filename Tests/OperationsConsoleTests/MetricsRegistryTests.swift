import CoreMetrics
import Testing

@testable import OperationsConsole

struct MetricsRegistryTests {
    private func read(_ registry: MetricsRegistry) throws -> OpenMetricsReader {
        try OpenMetricsReader(registry.openMetrics())
    }

    @Test func `an empty registry is an empty document`() throws {
        #expect(MetricsRegistry().openMetrics() == "# EOF\n")
    }

    @Test func `every kind of metric shows its values`() throws {
        let registry = MetricsRegistry(help: ["requests": "Requests\nthat were answered."])
        let counter = Counter(label: "requests", dimensions: [("route", "a")], factory: registry)
        counter.increment(by: 3)
        Counter(label: "requests", dimensions: [("route", "a")], factory: registry).increment()
        Counter(label: "requests", dimensions: [("route", "b")], factory: registry).increment()
        FloatingPointCounter(label: "cost", factory: registry).increment(by: 0.25)
        Gauge(label: "depth", factory: registry).record(-7)
        Meter(label: "level", factory: registry).increment(by: 1.5)
        let recorder = Recorder(label: "size", dimensions: [], aggregate: true, factory: registry)
        recorder.record(10)
        recorder.record(2.5)
        let timer = Timer(label: "wait", factory: registry)
        timer.recordNanoseconds(1_000_000)
        timer.recordNanoseconds(1_000_001)
        timer.recordNanoseconds(3_600_000_000_000)
        let text = try read(registry)
        #expect(text.value("requests_total", ["route": "a"]) == 4)
        #expect(text.value("requests_total", ["route": "b"]) == 1)
        #expect(text.value("cost_total") == 0.25)
        #expect(text.value("depth") == -7)
        #expect(text.value("level") == 1.5)
        #expect(text.value("size_count") == 2 && text.value("size_sum") == 12.5)
        #expect(text.value("wait_seconds_bucket", ["le": "0.001"]) == 1)
        #expect(text.value("wait_seconds_bucket", ["le": "0.0025"]) == 2)
        #expect(text.value("wait_seconds_bucket", ["le": "60.0"]) == 2)
        #expect(text.value("wait_seconds_bucket", ["le": "+Inf"]) == 3)
        #expect(text.types["wait_seconds"] == "histogram" && text.types["depth"] == "gauge")
        #expect(registry.openMetrics().contains("# HELP requests Requests that were answered.\n"))
    }

    @Test func `a histogram has the bounds that its family was given`() throws {
        let registry = MetricsRegistry(bounds: ["wait_seconds": [1, 3_600]])
        Timer(label: "wait", factory: registry).recordSeconds(60)
        Timer(label: "work", factory: registry).recordSeconds(1)
        let text = try read(registry)
        #expect(text.value("wait_seconds_bucket", ["le": "1.0"]) == 0)
        #expect(text.value("wait_seconds_bucket", ["le": "3600.0"]) == 1)
        #expect(text.value("wait_seconds_bucket", ["le": "60.0"]) == nil)
        #expect(text.value("work_seconds_bucket", ["le": "60.0"]) == 1)
    }

    @Test func `names are made valid and label values escaped`() throws {
        let registry = MetricsRegistry()
        let odd = "a\\b\"c\nd\té\u{1}"
        let counter = Counter(
            label: "9 lives.of-a_cat_total",
            dimensions: [("le", "x"), ("b c", odd), ("b.c", "second"), ("", "e")], factory: registry)
        counter.increment(by: 2)
        Gauge(label: "plain", dimensions: [("le", "x")], factory: registry).record(1)
        Timer(label: "t_seconds", dimensions: [("le", "x")], factory: registry).recordSeconds(1)
        let text = try read(registry)
        let labels = ["exported_le": "x", "b_c": "a\\b\"c\nd é ", "_": "e"]
        #expect(text.value("_9_lives_of_a_cat_total", labels) == 2)
        #expect(text.value("t_seconds_bucket", ["le": "1.0", "exported_le": "x"]) == 1)
    }

    @Test func `two kinds under one label do not mix`() throws {
        let registry = MetricsRegistry()
        Counter(label: "x", factory: registry).increment()
        Gauge(label: "x", factory: registry).record(5)
        Gauge(label: "x_total", factory: registry).record(6)
        Timer(label: "x", factory: registry).recordSeconds(2)
        Gauge(label: "x_seconds_count", factory: registry).record(7)
        let text = try read(registry)
        #expect(text.value("x_total") == 1 && text.value("x_gauge") == 5 && text.value("x_total_gauge") == 6)
        #expect(text.value("x_seconds_sum") == 2 && text.value("x_seconds_count_gauge") == 7)
    }

    @Test func `what is beyond the limits is summed up`() throws {
        var limits = MetricsRegistry.Limits()
        limits.seriesPerFamily = 3
        limits.families = 2
        let registry = MetricsRegistry(limits: limits)
        for number in 0..<100 {
            Counter(label: "a", dimensions: [("n", "\(number)")], factory: registry).increment()
        }
        for number in 0..<50 {
            Counter(label: "other\(number)", dimensions: [("n", "\(number)")], factory: registry).increment()
        }
        let text = try read(registry)
        #expect(text.value("a_total", ["overflow": "true"]) == 97)
        #expect(text.value("other0_total", ["n": "0"]) == 1)
        #expect(text.value("reconciled_metrics_overflow_counter_total", ["overflow": "true"]) == 49)
        #expect(text.samples.count == 6)
    }

    @Test func `numbers that are none stay within the format`() throws {
        let registry = MetricsRegistry()
        let gauge = Gauge(label: "g", factory: registry)
        let infinite = [(Double.infinity, "+Inf"), (-.infinity, "-Inf")]
        for (value, text) in infinite + [(.nan, "NaN"), (1e20, "1e+20"), (0.1, "0.1")] {
            gauge.record(value)
            #expect(registry.openMetrics().contains("\ng \(text)\n"))
            _ = try read(registry)
        }
        let counter = Counter(label: "c", factory: registry)
        counter.increment(by: Int64.max)
        counter.increment(by: 5)
        #expect(registry.openMetrics().contains("c_total 9223372036854775807\n"))
        let recorder = Recorder(label: "r", factory: registry)
        recorder.record(Double.nan)
        recorder.record(1)
        #expect(try read(registry).value("r_sum") == 1)
    }

    @Test func `a destroyed metric is gone, and can be made anew`() throws {
        let registry = MetricsRegistry()
        let counter = Counter(label: "c", factory: registry)
        counter.increment()
        counter.destroy()
        #expect(try read(registry).value("c_total") == nil)
        Counter(label: "c", factory: registry).increment()
        #expect(try read(registry).value("c_total") == 1)
    }

    @Test func `many writers at once lose nothing`() async throws {
        let registry = MetricsRegistry()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for number in 0..<500 {
                        let dimensions = [("n", "\(number % 5)")]
                        Counter(label: "c", dimensions: dimensions, factory: registry).increment()
                        Timer(label: "t", factory: registry).recordNanoseconds(Int64(number))
                    }
                }
            }
        }
        let text = try read(registry)
        #expect((0..<5).allSatisfy { text.value("c_total", ["n": "\($0)"]) == 800 })
        #expect(text.value("t_seconds_count") == 4_000)
    }
}
