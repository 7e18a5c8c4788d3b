import CertificateAuthority
import Foundation
import Testing

@testable import HTTPTransport

/// An authority, a certificate that it signed for `localhost` and 127.0.0.1, and one for another host.
struct TestCertificates: Sendable {
    private let root: CertificateAuthority
    private let pairs: [String: CertificateAuthority.Pair]
    var directory: URL { root.directory }
    var authority: String { root.certificate }

    /// A certificate by its name.
    func pair(_ name: String) throws -> CertificateAuthority.Pair { try #require(pairs[name]) }

    /// Made once for all tests.
    static let shared = Result { try TestCertificates() }

    private init() throws {
        root = try CertificateAuthority(
            in: FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)"))
        pairs = [
            "server": try root.issue("server", for: "DNS:localhost,IP:127.0.0.1"),
            "other": try root.issue("other", for: "DNS:other.example"),
            "client": try root.issue("client", for: "DNS:client.example"),
        ]
    }
}

/// A TLS server in a process of its own, which speaks HTTP/1.1, or just enough of HTTP/2.
final class TLSServer: Sendable {
    /// What it does with a request.
    enum Mode: String {
        case http1
        case http2
        /// HTTP/2: resets every stream after the first as refused.
        case refuse
        /// HTTP/2: answers nothing.
        case silent
        /// HTTP/1.1: closes the connection after having read its second request.
        case closeSecond
        /// HTTP/1.1: speaks to those alone who show a certificate of the authority.
        case asksForCertificate
    }

    let port: Int
    private let process: ChildProcess

    init(_ mode: Mode, certificate: String = "server") async throws {
        let certificates = try TestCertificates.shared.get()
        let pair = try certificates.pair(certificate)
        let process = try ChildProcess(
            [
                "python3", "-c", Self.script, mode.rawValue, pair.certificate, pair.key, certificates.authority,
            ])
        self.process = process
        let started = try await eventually { process.output.contains("\n") }
        try #require(started, "the TLS server did not start")
        let first = process.output.prefix { $0 != "\n" }
        port = try #require(Int(first.split(separator: " ").last ?? ""))
    }

    /// How many lines of this kind it has written: `connection` or `request`.
    func count(_ kind: String) -> Int {
        process.output.split(separator: "\n").count { $0 == kind }
    }

    func url(_ path: String = "/", host: String = "localhost") -> String { "https://\(host):\(port)\(path)" }

    func stop() {
        process.kill()
    }

    private static let script = #"""
        import os, socket, ssl, struct, sys, threading
        # Copies of the tests' own sockets would keep connections open that a test has closed.
        os.closerange(3, 4096)
        mode, certificate, key, authority = sys.argv[1:5]
        lock = threading.Lock()
        def say(text):
            with lock:
                print(text, flush=True)
        def http1(c):
            data, seen = b"", 0
            while True:
                while b"\r\n\r\n" not in data:
                    more = c.recv(65536)
                    if not more: return
                    data += more
                head, data = data.split(b"\r\n\r\n", 1)
                length = 0
                for line in head.split(b"\r\n")[1:]:
                    name, value = line.split(b":", 1)
                    if name.lower() == b"content-length": length = int(value)
                while len(data) < length:
                    more = c.recv(65536)
                    if not more: return
                    data += more
                data = data[length:]
                seen += 1
                say("request")
                if mode == "closeSecond" and seen == 2: return
                c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        def exactly(c, count):
            data = b""
            while len(data) < count:
                more = c.recv(count - len(data))
                if not more: raise EOFError
                data += more
            return data
        def frame(kind, flags, stream, payload=b""):
            length = struct.pack(">I", len(payload))[1:]
            return length + bytes([kind, flags]) + struct.pack(">I", stream) + payload
        def http2(c):
            exactly(c, 24)
            c.sendall(frame(4, 0, 0))
            seen = 0
            while True:
                head = exactly(c, 9)
                length = int.from_bytes(head[:3], "big")
                kind, flags, stream = head[3], head[4], int.from_bytes(head[5:9], "big")
                payload = exactly(c, length)
                if kind == 4 and not flags & 1: c.sendall(frame(4, 1, 0))
                if kind == 6 and not flags & 1: c.sendall(frame(6, 1, 0, payload))
                if kind == 0 and length:
                    grant = struct.pack(">I", length)
                    c.sendall(frame(8, 0, 0, grant) + (b"" if flags & 1 else frame(8, 0, stream, grant)))
                if kind in (0, 1) and flags & 1:
                    seen += 1
                    say("request")
                    if mode == "silent": continue
                    if mode == "refuse" and seen > 1:
                        c.sendall(frame(3, 0, stream, struct.pack(">I", 7)))
                        continue
                    c.sendall(frame(1, 4, stream, b"\x88") + frame(0, 1, stream, b"ok"))
        def serve(raw):
            try:
                c = context.wrap_socket(raw, server_side=True)
                say("connection")
                http2(c) if c.selected_alpn_protocol() == "h2" else http1(c)
                c.close()
            except (OSError, EOFError):
                raw.close()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        if mode == "asksForCertificate":
            context.load_verify_locations(authority)
            context.verify_mode = ssl.CERT_REQUIRED
        h2 = mode in ("http2", "refuse", "silent")
        context.set_alpn_protocols(["h2", "http/1.1"] if h2 else ["http/1.1"])
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        say("port %d" % listener.getsockname()[1])
        while True:
            raw, _ = listener.accept()
            threading.Thread(target=serve, args=(raw,), daemon=True).start()
        """#
}
