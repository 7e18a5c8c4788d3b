import Foundation
import PostgresServers
import Testing

/// What somebody who can set variables of the daemon's environment cannot have it do.
@Suite struct EnvironmentTests {
    @Test func `requests to providers go to no proxy, whatever the environment says`() async throws {
        try await World.run { world, _ in
            let directory = world.directory.appendingPathComponent("beside")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let configuration = directory.appendingPathComponent("reconciled.yaml")
            try WorldSettings().yaml(port: world.simulatorPort, directory: directory)
                .write(to: configuration, atomically: true, encoding: .utf8)
            // Nobody listens there: a request that goes by it is not answered.
            let proxy = "http://127.0.0.1:\(try FreePort.next())"
            let names = ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
            let daemon = try DaemonProcess(
                configuration: configuration, log: directory.appendingPathComponent("daemon.log"),
                with: Dictionary(uniqueKeysWithValues: names.map { ($0, proxy) }))
            defer { daemon.kill() }
            let ports = try await daemon.ready()
            let client = APIClient(port: ports.api, adminPort: ports.admin)
            let paid = try await client.create(Bodies.card(), key: "proxy-1", wait: 10)
            #expect(paid.state == "succeeded", "\(paid.text)")
        }
    }
}
