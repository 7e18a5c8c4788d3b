import Foundation
import Testing

@testable import HTTPTransport

/// An authority of our own, a certificate that it signed for `localhost` and 127.0.0.1, and one for another
/// host.
struct TestCertificates: Sendable {
    let directory: URL
    var authority: String { path("ca.pem") }

    func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    /// Made once for all tests.
    static let shared = Result { try TestCertificates() }

    private init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        try openssl(
            ["req", "-x509"] + key + [
                "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=authority",
            ])
        for (name, alternatives) in [
            ("server", "DNS:localhost,IP:127.0.0.1"), ("other", "DNS:other.example"),
        ] {
            try openssl(
                ["req"] + key + [
                    "-keyout", "\(name).key", "-out", "\(name).csr", "-subj", "/CN=\(name)",
                    "-addext", "subjectAltName=\(alternatives)",
                ])
            try openssl([
                "x509", "-req", "-in", "\(name).csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-days", "2", "-copy_extensions", "copy", "-out", "\(name).pem",
            ])
        }
    }

    private func openssl(_ arguments: [String]) throws {
        let files = [".pem", ".key", ".csr"]
        let placed = arguments.map { word in files.contains(where: word.hasSuffix) ? path(word) : word }
        let status = try ChildProcess(["openssl"] + placed).wait()
        try #require(status == 0, "openssl \(arguments.joined(separator: " "))")
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
    }

    let port: Int
    private let process: ChildProcess

    init(_ mode: Mode, certificate: String = "server") async throws {
        let certificates = try TestCertificates.shared.get()
        let process = try ChildProcess(
            [
                "python3", "-c", Self.script, mode.rawValue, certificates.path("\(certificate).pem"),
                certificates.path("\(certificate).key"),
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
        mode, certificate, key = sys.argv[1:4]
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
        context.set_alpn_protocols(["http/1.1"] if mode in ("http1", "closeSecond") else ["h2", "http/1.1"])
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        say("port %d" % listener.getsockname()[1])
        while True:
            raw, _ = listener.accept()
            threading.Thread(target=serve, args=(raw,), daemon=True).start()
        """#
}
