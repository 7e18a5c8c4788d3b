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

    /// What the page shows: the reports, or why there are none.
    var model: [String: Any] {
        guard let directory else { return [:] }
        do {
            return ["reports": try folders(of: directory).map(report)]
        } catch {
            return ["unreadable": "\(directory): \(error.localizedDescription)"]
        }
    }

    /// The folders of the newest drills.
    private func folders(of directory: String) throws -> [URL] {
        let root = URL(fileURLWithPath: directory, isDirectory: true)
        let keys: [URLResourceKey] = [.isDirectoryKey, .contentModificationDateKey]
        let folders = try FileManager.default.contentsOfDirectory(at: root, includingPropertiesForKeys: keys)
            .map { (url: $0, values: try $0.resourceValues(forKeys: Set(keys))) }
            .filter { $0.values.isDirectory == true }
        let newest = folders.sorted {
            ($0.values.contentModificationDate ?? .distantPast) > ($1.values.contentModificationDate ?? .distantPast)
        }
        return newest.prefix(DrillReports.mostReports).map(\.url)
    }

    /// A drill that broke before or while it wrote its report must not look as if it had never run.
    private func report(_ folder: URL) -> [String: Any] {
        let name = folder.lastPathComponent
        do {
            var shown = try DrillReports.read(folder.appendingPathComponent("report.json"))
            shown["folder"] = name
            return shown
        } catch {
            let reason = (error as? Unreadable)?.reason ?? error.localizedDescription
            return ["folder": name, "name": name, "passed": false, "broken_off": "no report: \(reason)"]
        }
    }

    private struct Unreadable: Error {
        let reason: String
    }

    private static func read(_ file: URL) throws -> [String: Any] {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        let data = try handle.read(upToCount: mostBytes + 1) ?? Data()
        guard data.count <= mostBytes else { throw Unreadable(reason: "it has more than \(mostBytes) bytes") }
        let report = ViewModel.members(Array(data))
        guard report["name"] is String else { throw Unreadable(reason: "it is no report in JSON") }
        var shown: [String: Any] = [:]
        for name in ["name", "passed", "broken_off", "invariants"] { shown[name] = report[name] }
        shown["objectives"] = (report["objectives"] as? [[String: Any]] ?? []).map { objective in
            var objective = objective
            if let measured = objective["measured_ms"] as? String { objective["measured"] = "\(measured) ms" }
            return objective
        }
        return shown
    }
}
