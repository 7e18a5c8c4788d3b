public import ArgumentParser
import Foundation

/// Why a command ended, in words for a person, with the exit code.
public struct CommandFailure: Error {
    /// The exit codes of the programs; 0 is done.
    public enum Code: Int32, Sendable {
        /// Something was found that must not be.
        case finding = 1
        /// The command or the configuration makes no sense.
        case usage = 2
        /// Something that the command needs cannot be reached.
        case unavailable = 3
    }

    /// Which kind of end it is.
    public let code: Code
    /// What a person is told.
    public let message: String

    /// A failure of this kind, with what a person is told.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension AsyncParsableCommand {
    /// Parses the arguments of the process, runs the command that they name, and ends the process with its exit code.
    public static func runToTheEnd() async {
        TerminationSignal.endProcessOne()
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            let program = configuration.commandName ?? _commandName
            warn("\(program): \(failure.message)")
            end(failure.code.rawValue)
        } catch {
            let code = exitCode(for: error)
            guard code != ExitCode.validationFailure else {
                warn(fullMessage(for: error))
                end(CommandFailure.Code.usage.rawValue)
            }
            exit(withError: error)
        }
    }

    /// Ends the process at once. What libraries do at an exit would take away what threads of theirs still use: a
    /// transport that was just made loads certificates while OpenSSL frees its locks.
    private static func end(_ code: Int32) -> Never {
        fflush(nil)
        _exit(code)
    }
}
