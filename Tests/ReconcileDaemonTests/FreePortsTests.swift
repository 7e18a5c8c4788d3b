import Foundation
import ProgramEdge
import Testing

@testable import ReconcileDaemon

/// A port that another program has is named before the daemon does anything.
@Suite struct FreePortsTests {
    private func listener(_ host: String, _ port: Int) -> Configuration.Listener {
        Configuration.Listener(host: host, port: port, maximumConnections: 16)
    }

    /// Runs `body` while something listens on a port of the loopback.
    private func whileTaken(_ body: (Int) throws -> Void) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isTaken = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 1) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        try #require(isTaken)
        try body(Int(UInt16(bigEndian: address.sin_port)))
    }

    @Test func `a port that is taken is named, with its key`() throws {
        try whileTaken { port in
            let failure = #expect(throws: CommandFailure.self) {
                try FreePorts.require(listener("127.0.0.1", port), "http.port")
            }
            #expect(failure?.code == .unavailable)
            #expect(failure?.message.hasPrefix("http.port: port \(port) of 127.0.0.1 cannot be had: ") == true)
        }
    }

    @Test func `what is free, or left to the system, is not held up, and stays free`() throws {
        var port = 0
        try whileTaken { port = $0 }
        for _ in 0..<2 { try FreePorts.require(listener("127.0.0.1", port), "http.port") }
        try FreePorts.require(listener("127.0.0.1", 0), "http.port")
    }

    @Test func `a host that is none is named`() {
        let failure = #expect(throws: CommandFailure.self) {
            try FreePorts.require(listener("no such host", 8_080), "admin.port")
        }
        #expect(failure?.message == "admin.port: the host 'no such host' is not known here")
    }
}
