internal import Foundation

/// The reports of disaster-recovery drills, as `drills/` leaves them in a directory: one folder each, with a
/// `report.json`.
public struct DrillReports: Sendable {
    /// So many are shown, the newest first.
    private static let mostReports = 50
    private static let mostBytes = 4 << 20

    private let directory: String?

    /// Reports below a directory; none without one.
    public init(directory: String?) { self.directory = directory }

    /// Whether there is a directory to look into.
    var isConfigured: Bool { directory != nil }

    /// What templates show of each report; of one that cannot be read, that it cannot.
    func read() -> [[String: Any]] {
        guard let directory else { return [] }
        let root = URL(fileURLWithPath: directory, isDirectory: true)
        let folders =
            (try? FileManager.default.contentsOfDirectory(
                at: root, includingPropertiesForKeys: [.isDirectoryKey])) ?? []
        let files = folders.map { $0.appendingPathComponent("report.json") }.compactMap { file -> (URL, Date)? in
            let values = try? file.resourceValues(forKeys: [.contentModificationDateKey, .fileSizeKey])
            guard let values, let date = values.contentModificationDate, (values.fileSize ?? 0) <= Self.mostBytes
            else { return nil }
            return (file, date)
        }
        return files.sorted { $0.1 > $1.1 }.prefix(Self.mostReports).map { report($0.0) }
    }

    private func report(_ file: URL) -> [String: Any] {
        let folder = file.deletingLastPathComponent().lastPathComponent
        let report = (try? Data(contentsOf: file)).map { ViewModel.members(Array($0)) } ?? [:]
        // A drill that broke while it wrote must not look as if it had never run.
        guard report["name"] is String else {
            return ["folder": folder, "name": folder, "passed": false, "broken_off": "its report cannot be read"]
        }
        var shown: [String: Any] = ["folder": folder]
        for name in ["name", "passed", "broken_off", "invariants"] { shown[name] = report[name] }
        shown["objectives"] = (report["objectives"] as? [[String: Any]] ?? []).map { objective in
            var objective = objective
            if let measured = objective["measured_ms"] as? String { objective["measured"] = "\(measured) ms" }
            return objective
        }
        return shown
    }
}
