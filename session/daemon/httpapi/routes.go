//go:build unix

package httpapi

import (
	"slices"

	"github.com/longterm-dev/longterm/session/api"
)

// Errors that routes give besides those of any request (AnyRequest), by what they are about.
var (
	ofSession  = []api.Code{api.CodeNotFound, api.CodeAmbiguous}
	ofApproval = []api.Code{api.CodeNotFound, api.CodeAnswered, api.CodeDenied}
	ofTyping   = append(ofSession, api.CodeEnded, api.CodeStale, api.CodeEcho, api.CodeLimit)
	ofInput    = append(slices.Clip(ofTyping), api.CodeIDTaken, api.CodeDenied, api.CodeRejected, api.CodeNeedsApproval)
	ofStarting = []api.Code{api.CodeDenied, api.CodeRejected, api.CodeNeedsApproval, api.CodeNameTaken, api.CodeLimit, api.CodeSpawn, api.CodeNoProgram}
	ofLines    = append(ofTyping, api.CodeBusy, api.CodeNeedsInput, api.CodeNoShell, api.CodeNameTaken, api.CodeIDTaken, api.CodeTimeout, api.CodeDenied, api.CodeRejected)
	ofReading  = []api.Code{api.CodeNotFound, api.CodeStale}
	ofJob      = []api.Code{api.CodeNotFound, api.CodeAmbiguous, api.CodeTimeout}
)

// AnyRequest are the errors that any route may give; over TCP it may also be unauthorized, or denied by its token.
var AnyRequest = []api.Code{api.CodeInvalid, api.CodeUnavailable, api.CodeStorage, api.CodeInternal}

// Routes is the table of the API, the only one: what is served, what OpenAPI says of it and what is
// tested are made from it. A row has the method, the path below api.Version, the operation's id, the
// verb of the command line that asks for it (empty: none by itself), what it does, its handler, which
// names the types of its request and answer, and the errors it gives besides those of any request.
var Routes = []Route{
	op("GET", "/status", "status", "daemon status", "Describe daemon and keepers", (*Server).getStatus, nil),
	op("POST", "/stop", "stop", "daemon stop", "End the daemon; sessions go on", (*Server).postStop, []api.Code{api.CodeDenied}),
	op("POST", "/upgrade", "upgrade", "daemon upgrade", "Replace keepers and daemon by another executable",
		(*Server).postUpgrade, []api.Code{api.CodeDenied}),
	op("GET", "/sessions", "list-sessions", "ls", "List sessions", (*Server).listSessions, nil),
	raw("GET", "/sessions.txt", "table-sessions", "ls", "List sessions as a table for people; it is not for programs to read", (*Server).tableSessions, nil),
	op("POST", "/sessions", "new-session", "new", "Start a session", (*Server).newSession, ofStarting),
	op("GET", "/sessions/{session}", "get-session", "info", "Describe a session", (*Server).getSession, ofSession),
	op("GET", "/sessions/{session}/env", "get-env", "info", "Tell a session's environment",
		(*Server).getEnv, ofSession),
	op("PATCH", "/sessions/{session}", "edit-session", "rename", "Change name and labels",
		(*Server).editSession, append(ofSession, api.CodeNameTaken)),
	op("DELETE", "/sessions/{session}", "remove-session", "rm", "Forget a session and its history",
		(*Server).removeSession, append(ofSession, api.CodeRunning)),
	op("POST", "/sessions/{session}/input", "type", "send", "Type text, keys, a paste or bytes",
		(*Server).postInput, ofInput),
	op("POST", "/sessions/{session}/resize", "resize", "resize", "Change the size",
		(*Server).postResize, append(ofSession, api.CodeEnded)),
	op("POST", "/sessions/{session}/signal", "signal", "signal", "Signal processes",
		(*Server).postSignal, append(ofSession, api.CodeEnded)),
	op("POST", "/sessions/{session}/kill", "kill", "kill", "End the process and all its descendants",
		(*Server).postKill, append(ofSession, api.CodeTimeout)),
	op("POST", "/sessions/{session}/restore", "restore", "restore", "Start the process of an ended session again",
		(*Server).postRestore, append(append(ofStarting, ofSession...), api.CodeRunning)),
	op("GET", "/audit", "list-audit", "audit", "List what was asked, decided and done, oldest first",
		(*Server).listAudit, ofSession),
	op("GET", "/audit/verify", "verify-audit", "audit", "Check that no audit record was changed or is missing",
		(*Server).verifyAudit, nil),
	op("POST", "/prune", "prune", "prune", "Drop history that is over a budget", (*Server).postPrune, nil),
	op("GET", "/search", "search", "search", "Search what sessions printed", (*Server).searchOutput, ofSession),
	op("GET", "/commands", "list-commands", "commands", "List commands that shells ran",
		(*Server).listCommands, ofSession),
	op("GET", "/sessions/{session}/commands/{n}", "get-command", "commands", "Describe a command",
		(*Server).getCommand, ofSession),
	op("GET", "/sessions/{session}/commands/{n}/parsed", "parse-command", "output",
		"Read a command's output: problems, tests, listings", (*Server).getParsed, ofSession),
	op("GET", "/sessions/{session}/commands/{n}/suggestions", "suggest", "suggest",
		"What one might do after a command; nothing is run", (*Server).getSuggestions, append(ofSession, api.CodeRunning)),
	op("POST", "/sessions/{session}/exec", "exec", "exec", "Run a line in the session's shell",
		(*Server).postExec, ofLines),
	op("POST", "/sessions/{session}/batch", "batch", "exec", "Run lines one after the other in the session's shell",
		(*Server).postBatch, ofLines),
	op("POST", "/sessions/{session}/network", "ask-network", "", "Ask whether programs of a session in a sandbox may connect to a host",
		(*Server).postNetwork, append(ofSession, api.CodeDenied, api.CodeRejected, api.CodeTimeout)),
	op("POST", "/run", "run", "run", "Run a command in a session of its own",
		(*Server).postRun, append(slices.Clip(ofStarting), api.CodeIDTaken, api.CodeEnded, api.CodeTimeout)),
	op("GET", "/jobs", "list-jobs", "jobs", "List lines and commands that were asked for",
		(*Server).listJobs, ofSession),
	op("GET", "/jobs/{job}", "get-job", "jobs show", "Describe a job, or wait for its end",
		(*Server).getJob, ofJob),
	op("POST", "/jobs/{job}/stop", "stop-job", "jobs stop", "End a job by the kill ladder",
		(*Server).postJobStop, append(ofJob, api.CodeEnded)),
	op("POST", "/jobs/{job}/background", "background-job", "jobs background",
		"Let whoever waits for a job come back; it goes on", (*Server).postJobBackground, append(ofJob, api.CodeEnded)),
	op("DELETE", "/jobs/{job}", "forget-job", "jobs rm", "Forget a job that ended, and the session it ran in by itself",
		(*Server).deleteJob, append(ofJob, api.CodeRunning)),
	op("GET", "/approvals", "list-approvals", "approvals", "List what a person has to allow, or had",
		(*Server).listApprovals, ofSession),
	op("POST", "/approvals/answer", "answer-approvals", "approvals answer", "Answer several approvals, a group or all",
		(*Server).postApprovals, ofApproval),
	op("GET", "/approvals/{approval}", "get-approval", "approvals show", "Describe an approval",
		(*Server).getApproval, []api.Code{api.CodeNotFound}),
	op("POST", "/approvals/{approval}/answer", "answer-approval", "approvals answer", "Answer an approval",
		(*Server).postApproval, ofApproval),
	op("GET", "/grants", "list-grants", "approvals ls", "List what was allowed for sessions", (*Server).listGrants, nil),
	op("DELETE", "/grants/{grant}", "revoke-grant", "approvals revoke", "Take back what was allowed for a session",
		(*Server).deleteGrant, ofApproval),
	op("POST", "/sessions/{session}/wait", "wait", "wait", "Wait for conditions", (*Server).postWait, ofTyping),
	op("GET", "/sessions/{session}/output", "read-output", "output", "Read output from an offset",
		(*Server).getOutput, ofSession),
	op("GET", "/sessions/{session}/output/text", "read-output-text", "output", "Read output as text within a budget",
		(*Server).getText, ofSession),
	op("GET", "/sessions/{session}/screen", "screen", "screen", "The screen as lines of spans",
		(*Server).getScreen, ofSession),
	op("POST", "/sessions/{session}/respond", "add-rules", "respond", "Attach rules that answer what the program asks",
		(*Server).postRules, append(slices.Clip(ofSession), api.CodeNameTaken, api.CodeEnded, api.CodeDenied, api.CodeRejected)),
	op("GET", "/sessions/{session}/respond", "list-rules", "respond",
		"List a session's rules, in the order they are looked at", (*Server).getRules, ofSession),
	op("DELETE", "/sessions/{session}/respond", "remove-rules", "respond", "Take rules away",
		(*Server).deleteRules, ofSession),
	op("GET", "/sessions/{session}/respond/log", "list-firings", "respond", "What a session's rules did, oldest first",
		(*Server).getFirings, ofSession),
	op("GET", "/tokens", "list-tokens", "token ls", "List who may use the API over TCP", (*Server).listTokens, []api.Code{api.CodeDenied}),
	op("POST", "/tokens", "new-token", "token new", "Make a token; its secret is in this answer only",
		(*Server).newToken, append(ofSession, api.CodeDenied, api.CodeNameTaken, api.CodeLimit)),
	op("DELETE", "/tokens/{token}", "revoke-token", "token revoke", "Take a token back, and end what is under way with it",
		(*Server).revokeToken, []api.Code{api.CodeDenied, api.CodeNotFound}),
	op("GET", "/web", "get-web", "web", "Where the page in the browser is served", (*Server).getWeb, nil),
	op("POST", "/web", "open-web", "web", "Serve the page in the browser, and make a link to log in", (*Server).openWeb,
		append(ofSession, api.CodeDenied, api.CodeSpawn)),
	op("DELETE", "/web", "close-web", "web", "Serve the page no longer", (*Server).closeWeb, []api.Code{api.CodeDenied}),
	op("POST", "/sessions/{session}/share", "share", "share", "Make a link to a session for others", (*Server).postShare,
		append(ofSession, api.CodeDenied, api.CodeLimit)),
	raw("GET", "/metrics", "metrics", "daemon metrics", "Figures for monitoring, in the text format of Prometheus; at /metrics, too",
		(*Server).getMetrics, nil),
	raw("GET", "/sessions/{session}/output/raw", "read-raw-output", "output", "Read output from an offset as bytes",
		(*Server).getRawOutput, ofSession),
	raw("GET", "/sessions/{session}/screen/{format}", "screen-text", "screen",
		"The screen as text, with ANSI sequences, as Markdown, or as a picture", (*Server).getPicture, ofSession),
	raw("GET", "/sessions/{session}/records", "read-records", "export",
		"History with times and sizes, a JSON object a line; the first is the screen to begin with",
		(*Server).getRecords, ofSession),
	op("POST", "/sessions/{session}/agent", "agent-event", "agent hook", "Take what a coding agent in a session tells by its hooks",
		(*Server).postAgentEvent, append(ofSession, api.CodeEnded)),
	events("GET", "/events", "events", "watch", "What happens to sessions, as a stream", (*Server).streamEvents),
	op("GET", "/subscriptions", "list-subscriptions", "events", "List who is told of completions, also of those while it was away",
		(*Server).listSubscriptions, nil),
	op("PUT", "/subscriptions/{subscription}", "subscribe", "events", "Make a subscription to completions; it begins now and outlives the daemon",
		(*Server).putSubscription, append(slices.Clip(ofSession), api.CodeNameTaken, api.CodeLimit, api.CodeDenied)),
	op("DELETE", "/subscriptions/{subscription}", "unsubscribe", "events", "Remove a subscription",
		(*Server).deleteSubscription, []api.Code{api.CodeNotFound}),
	op("POST", "/subscriptions/{subscription}/read", "read-completions", "events",
		"Read what a subscription has not acknowledged, or wait for it", (*Server).readCompletions, ofReading),
	op("POST", "/subscriptions/{subscription}/ack", "ack-completions", "events",
		"Say up to where a subscription's completions were dealt with", (*Server).ackCompletions, ofReading),
	socket("GET", "/page", "page", "web", "What the page in the browser shows and does: many sessions on one socket (docs/web-protocol.md)",
		(*Server).servePage, []api.Code{api.CodeLimit}),
	socket("GET", "/sessions/{session}/attach", "attach", "attach",
		"A person's terminal: raw output after a drawing of the screen", (*Server).serveAttach, ofSession),
	socket("GET", "/sessions/{session}/watch", "watch", "view", "The rows that change, as spans",
		(*Server).serveWatch, ofSession),
}
