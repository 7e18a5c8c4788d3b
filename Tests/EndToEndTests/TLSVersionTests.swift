import Foundation
import Testing

/// Which versions of TLS the listeners speak, asked by OpenSSL.
@Suite struct TLSVersionTests {
    /// - Returns: what OpenSSL's own client says of a connection with this version alone.
    private func handshake(_ version: String, port: Int) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // What is old is refused by the client as well, unless it is told to take everything.
        process.arguments = [
            "openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-\(version)", "-cipher", "ALL:@SECLEVEL=0",
        ]
        process.standardInput = FileHandle.nullDevice
        let said = Pipe()
        process.standardOutput = said
        process.standardError = said
        try process.run()
        let words = String(decoding: said.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return words
    }

    @Test func `TLS before 1.2 is not spoken on either listener`() async throws {
        try await World.run { world, _ in
            let secured = try SecuredDaemon(world, asking: false)
            defer { secured.end() }
            let ports = try await secured.ports()
            for port in [ports.api, ports.admin] {
                for (version, name) in [("tls1_2", "TLSv1.2"), ("tls1_3", "TLSv1.3")] {
                    let words = try handshake(version, port: port)
                    #expect(words.contains("New, \(name), Cipher is"), "\(version): \(words)")
                }
                for version in ["tls1", "tls1_1"] {
                    let words = try handshake(version, port: port)
                    #expect(words.contains("Cipher is (NONE)"), "\(version): \(words)")
                    // It is the listener that refuses: the client has sent its hello.
                    #expect(words.contains("alert protocol version"), "\(version): \(words)")
                }
            }
        }
    }
}
