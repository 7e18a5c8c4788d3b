import Foundation
import Yams

extension Configuration {
    /// Reads only where the operators' listener is, so that a probe needs no secret and judges no other key.
    static func loadAdmin(path: String?, environment: [String: String]) throws -> Listener {
        let reading = ConfigurationReading(environment: environment) { try String(contentsOfFile: $0, encoding: .utf8) }
        let top = ConfigurationSection(
            try node(path: path), path: "", variablePrefix: ConfigurationReading.prefix, reading: reading)
        let section = top.section("admin")
        var listener = readAdmin(section)
        listener.certificatePath = section.section("tls").text("certificate_file")
        guard reading.problems.isEmpty else { throw ConfigurationFailure(problems: reading.problems) }
        return listener
    }

    static func readAdmin(_ section: ConfigurationSection) -> Listener {
        Listener(
            host: section.text("host") ?? "127.0.0.1", port: section.int("port", in: 0...65_535, default: 8081),
            maximumConnections: section.int("max_connections", in: 16...65_536, default: 256),
            drillReports: section.text("drill_reports"))
    }
}
