package import Foundation

/// An authority of our own in a directory of its own, and what it signed, as PEM files that OpenSSL made.
package struct CertificateAuthority: Sendable {
    /// A certificate and its key, each a file.
    package struct Pair: Sendable {
        /// Where the certificate is.
        package let certificate: String
        /// Where its key is.
        package let key: String

        /// A certificate and its key in two files.
        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// OpenSSL did not do what was asked.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Where all files are.
    package let directory: URL
    /// The authority's own certificate.
    package var certificate: String { path("authority.pem") }

    /// A new authority in a directory that is not there yet.
    package init(in directory: URL) throws {
        self.directory = directory
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try openssl(
            ["req", "-x509"] + CertificateAuthority.newKey + [
                "-keyout", path("authority.key"), "-out", certificate, "-days", "2", "-subj", "/CN=authority",
            ])
    }

    /// A certificate that the authority has signed, for two days.
    /// - Parameters:
    ///   - name: Its common name, and how its files begin.
    ///   - alternatives: What it is for, such as `DNS:localhost,IP:127.0.0.1`.
    package func issue(_ name: String, for alternatives: String) throws -> Pair {
        let pair = Pair(certificate: path("\(name).pem"), key: path("\(name).key"))
        try openssl(
            ["req"] + CertificateAuthority.newKey + [
                "-keyout", pair.key, "-out", path("\(name).csr"), "-subj", "/CN=\(name)",
                "-addext", "subjectAltName=\(alternatives)",
            ])
        // Several tests may have something signed at one moment: a file of serials would be shared.
        let serial = "0x" + String(UInt64.random(in: 1...UInt64.max / 2), radix: 16)
        try openssl([
            "x509", "-req", "-in", path("\(name).csr"), "-CA", certificate, "-CAkey", path("authority.key"),
            "-set_serial", serial, "-days", "2", "-copy_extensions", "copy", "-out", pair.certificate,
        ])
        return pair
    }

    /// The same key under a password.
    package func locked(_ key: String) throws -> String {
        try openssl(["ec", "-in", key, "-aes256", "-passout", "pass:secret", "-out", "\(key).locked"])
        return "\(key).locked"
    }

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    private func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    private func openssl(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardOutput = FileHandle.nullDevice
        let said = Pipe()
        process.standardError = said
        try process.run()
        // Before it has ended, or it might wait for room in the pipe.
        let words = String(decoding: said.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "openssl \(arguments.joined(separator: " ")): \(words)")
        }
    }
}
