import Foundation
import Metrics

/// What the process itself uses, as other programs name it for Prometheus. Only where the system has `/proc`.
struct ProcessGauges {
    private let processor = FloatingPointCounter(label: "process_cpu_seconds")
    private let memory = Gauge(label: "process_resident_memory_bytes")
    private let descriptors = Gauge(label: "process_open_fds")
    private var seen = 0.0

    init() {
        Gauge(label: "process_start_time_seconds").record(Date().timeIntervalSince1970)
        Gauge(label: "process_max_fds").record(DescriptorLimits.current.soft)
    }

    /// Reads them anew.
    mutating func record() {
        if let pages = ProcessGauges.words("/proc/self/statm").dropFirst().first.flatMap({ Int($0) }) {
            memory.record(pages * sysconf(Int32(_SC_PAGESIZE)))
        }
        if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            descriptors.record(open.count)
        }
        // The name, in brackets, may hold blanks; the 14th and 15th number of all are the time in ticks.
        guard let text = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return }
        let numbers = text[text.index(after: end)...].split(separator: " ").dropFirst(11).prefix(2).compactMap {
            Double($0)
        }
        guard numbers.count == 2 else { return }
        let used = (numbers[0] + numbers[1]) / Double(sysconf(Int32(_SC_CLK_TCK)))
        processor.increment(by: max(0, used - seen))
        seen = used
    }

    private static func words(_ path: String) -> [Substring] {
        ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: " ")
    }
}
