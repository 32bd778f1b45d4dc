//go:build unix

package httpapi

import (
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/sse"

	"github.com/longterm-dev/longterm/session/api"
)

// routes registers every operation: the table of the API.
func (s *Server) routes(a huma.API) {
	op(a, "GET", "/status", "status", "Describe daemon and keepers", s.getStatus)
	op(a, "POST", "/stop", "stop", "End the daemon; sessions go on", s.postStop)
	op(a, "POST", "/upgrade", "upgrade", "Replace keepers and daemon by another executable", s.postUpgrade)
	op(a, "GET", "/sessions", "list-sessions", "List sessions", s.listSessions)
	op(a, "POST", "/sessions", "new-session", "Start a session", s.newSession)
	op(a, "GET", "/sessions/{session}", "get-session", "Describe a session", s.getSession)
	op(a, "GET", "/sessions/{session}/env", "get-env", "Tell a session's environment", s.getEnv)
	op(a, "PATCH", "/sessions/{session}", "edit-session", "Change name and labels", s.editSession)
	op(a, "DELETE", "/sessions/{session}", "remove-session", "Forget a session and its history", s.removeSession)
	op(a, "POST", "/sessions/{session}/input", "type", "Type text, keys, a paste or bytes", s.postInput)
	op(a, "POST", "/sessions/{session}/resize", "resize", "Change the size", s.postResize)
	op(a, "POST", "/sessions/{session}/signal", "signal", "Signal processes", s.postSignal)
	op(a, "POST", "/sessions/{session}/kill", "kill", "End the process and all its descendants", s.postKill)
	op(a, "POST", "/sessions/{session}/restore", "restore", "Start the process of an ended session again", s.postRestore)
	op(a, "POST", "/prune", "prune", "Drop history that is over a budget", s.postPrune)
	op(a, "GET", "/search", "search", "Search what sessions printed", s.searchOutput)
	op(a, "GET", "/commands", "list-commands", "List commands that shells ran", s.listCommands)
	op(a, "GET", "/sessions/{session}/commands/{n}", "get-command", "Describe a command", s.getCommand)
	op(a, "GET", "/sessions/{session}/commands/{n}/parsed", "parse-command", "Read a command's output: problems, tests, listings", s.getParsed)
	op(a, "GET", "/sessions/{session}/commands/{n}/suggestions", "suggest", "What one might do after a command; nothing is run", s.getSuggestions)
	op(a, "POST", "/sessions/{session}/exec", "exec", "Run a line in the session's shell", s.postExec)
	op(a, "POST", "/sessions/{session}/batch", "batch", "Run lines one after the other in the session's shell", s.postBatch)
	op(a, "POST", "/run", "run", "Run a command in a session of its own", s.postRun)
	op(a, "GET", "/jobs", "list-jobs", "List lines and commands that were asked for", s.listJobs)
	op(a, "GET", "/jobs/{job}", "get-job", "Describe a job, or wait for its end", s.getJob)
	op(a, "POST", "/jobs/{job}/stop", "stop-job", "End a job by the kill ladder", s.postJobStop)
	op(a, "POST", "/jobs/{job}/background", "background-job", "Let whoever waits for a job come back; it goes on", s.postJobBackground)
	op(a, "DELETE", "/jobs/{job}", "forget-job", "Forget a job that ended, and the session it ran in by itself", s.deleteJob)
	op(a, "POST", "/sessions/{session}/wait", "wait", "Wait for conditions", s.postWait)
	op(a, "GET", "/sessions/{session}/output", "read-output", "Read output from an offset", s.getOutput)
	op(a, "GET", "/sessions/{session}/output/text", "read-output-text", "Read output as text within a budget", s.getText)
	op(a, "GET", "/sessions/{session}/screen", "screen", "The screen as lines of spans", s.getScreen)
	s.respondRoutes(a)
	s.rawRoutes(a)
	s.recordRoute(a)
	sse.Register(a, huma.Operation{
		OperationID: "events", Method: "GET", Path: api.Version + "/events", Summary: "What happens to sessions, as a stream",
	}, map[string]any{"message": api.Event{}}, s.streamEvents)
}
