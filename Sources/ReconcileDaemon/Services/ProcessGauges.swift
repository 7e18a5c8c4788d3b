import Foundation
import Metrics

/// What the process itself uses, as other programs name it for Prometheus. Only where the system has `/proc`.
struct ProcessGauges {
    private let processor = FloatingPointCounter(label: "process_cpu_seconds")
    private let memory = Gauge(label: "process_resident_memory_bytes")
    private let descriptors = Gauge(label: "process_open_fds")
    private var seen = 0.0

    init() {
        Gauge(label: "process_max_fds").record(DescriptorLimits.current.soft)
        // The moment of the start is told in ticks since the system's own.
        guard let ticks = ProcessGauges.numbers()?[19], let running = ProcessGauges.words("/proc/uptime").first,
            let seconds = Double(running)
        else { return }
        let start = Date().timeIntervalSince1970 - (seconds - ticks / ProcessGauges.ticksPerSecond)
        Gauge(label: "process_start_time_seconds").record(start)
    }

    /// Reads them anew.
    mutating func record() {
        if let pages = ProcessGauges.words("/proc/self/statm").dropFirst().first.flatMap({ Int($0) }) {
            memory.record(pages * sysconf(Int32(_SC_PAGESIZE)))
        }
        if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            descriptors.record(open.count)
        }
        guard let numbers = ProcessGauges.numbers() else { return }
        let used = (numbers[11] + numbers[12]) / ProcessGauges.ticksPerSecond
        processor.increment(by: max(0, used - seen))
        seen = used
    }

    private static let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))

    /// What the system says of the process, from its third number on: the name before may hold blanks, and ends with a
    /// bracket. `nil` where there is no `/proc`.
    private static func numbers() -> [Double]? {
        guard let text = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        // The first of them is a letter.
        let numbers = text[text.index(after: end)...].split(separator: " ").map { Double($0) ?? 0 }
        return numbers.count > 19 ? numbers : nil
    }

    private static func words(_ path: String) -> [Substring] {
        ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: " ")
    }
}
