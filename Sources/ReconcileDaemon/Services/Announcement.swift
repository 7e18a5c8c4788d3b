import Foundation

/// Says on standard output, once, where the daemon listens.
actor Announcement {
    private let expectsAPI: Bool
    private var apiPort: Int?
    private var adminPort: Int?

    init(expectsAPI: Bool) { self.expectsAPI = expectsAPI }

    func apiListens(on port: Int) {
        apiPort = port
        announceWhenComplete()
    }

    func adminListens(on port: Int) {
        adminPort = port
        announceWhenComplete()
    }

    private func announceWhenComplete() {
        guard let adminPort, !expectsAPI || apiPort != nil else { return }
        let api = apiPort.map { "payments on port \($0), " } ?? ""
        FileHandle.standardOutput.write(Data("reconciled is ready: \(api)operations on port \(adminPort)\n".utf8))
    }
}

/// Whether the process may be given work: yes once it runs, no once it is told to stop.
actor Readiness {
    private(set) var isReady = false

    func set(_ ready: Bool) { isReady = ready }
}
