import Foundation
import Testing

@testable import ReconcileDaemon

@Suite struct HealthcheckCommandTests {
    @Test(arguments: [
        ("0.0.0.0", "http://127.0.0.1:8081"), ("::", "http://[::1]:8081"), ("10.1.2.3", "http://10.1.2.3:8081"),
        ("fd00::1", "http://[fd00::1]:8081"), ("localhost", "http://localhost:8081"),
    ])
    func `a listener on every address is asked on the loopback`(host: String, address: String) throws {
        let listener = Configuration.Listener(host: host, port: 8081)
        #expect(try OperatorsAddress(beside: listener, port: nil).base == address)
    }

    @Test func `the section admin is enough, in the file or in the environment`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("admin-\(UUID().uuidString).yaml")
        try Data("admin: {host: 0.0.0.0, port: 9000}\nproviders: 7\n".utf8).write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        let fromFile = try Configuration.loadAdmin(path: path.path, environment: [:])
        #expect(fromFile.port == 9000)
        let overridden = try Configuration.loadAdmin(path: path.path, environment: ["RECONCILED_ADMIN_PORT": "9001"])
        #expect(overridden.port == 9001)
        #expect(throws: ConfigurationFailure.self) {
            try Configuration.loadAdmin(path: path.path, environment: ["RECONCILED_ADMIN_PORT": "many"])
        }
    }
}
