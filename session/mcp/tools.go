//go:build unix

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is an entry of the table of tools.
type tool struct {
	name, about               string
	level                     Level
	mayWait                   bool   // a call may wait
	runsLines                 bool   // it runs shell lines: the description names the shell
	idempotent                bool   // repeating a call has no further effect
	destructive               bool   // it may end or remove something
	inputSchema, outputSchema string // JSON schemas of arguments and result
	handler                   func(*Server, context.Context, json.RawMessage) (*sdk.CallToolResult, error)
}

// tools are all tools, sorted by name as clients list them. Models read the descriptions with every request:
// TestTools_TokenCount counts them. The tool help adds details.
var tools []tool

func init() {
	tools = []tool{
		{
			name: "approvals", level: Read, idempotent: true,
			about:        "List pending approval requests. Only the user can answer; wait continues afterwards.",
			inputSchema:  `{"type":"object","properties":{},"additionalProperties":false}`,
			outputSchema: `{"type":"object","properties":{"approvals":{"type":"array","items":{"type":"object"}}},"required":["approvals"]}`,
			handler:      (*Server).approvals,
		},
		{
			name: "exec", level: Change, mayWait: true, runsLines: true, idempotent: true, destructive: true,
			about: "Run a shell line; answers with exit code and output by the yield time. Without session: in a new process. " +
				"With: in that shell, where cwd, variables and jobs persist. A line that still runs is a job: call wait.",
			inputSchema: `{"type":"object","properties":{"line":{"type":"string","minLength":1},"session":{"type":"string"},"cwd":{"type":"string"},` +
				`"timeout":{"type":"number","minimum":1,"description":"s; kills it. Default none"},` + yieldSchema + `,` + tokensSchema +
				`,"id":{"type":"string","maxLength":64,"pattern":"^[0-9A-Za-z-]*$","description":"same id = same call, runs once"}},` +
				`"required":["line"],"additionalProperties":false}`,
			outputSchema: answerSchema, handler: (*Server).exec,
		},
		{
			name: "help", level: Read, idempotent: true,
			about:       "More on a topic: " + strings.Join(topics(), ", ") + ".",
			inputSchema: `{"type":"object","properties":{"topic":{"type":"string"}},"additionalProperties":false}`,
			handler:     (*Server).help,
		},
		{
			name: "input", level: Change, mayWait: true, destructive: true,
			about: "Type into a session; answers with its output when it is idle, ends or needs input. keys (after text): Enter, C-c, Up, Tab, F5…",
			inputSchema: `{"type":"object","properties":{"session":{"type":"string"},"text":{"type":"string"},"keys":{"type":"array","items":{"type":"string"}},` +
				`"enter":{"type":"boolean"},"secret":{"type":"boolean","description":"refused while the terminal echoes"},` +
				`"version":{"type":"integer","minimum":0,"description":"of the screen; refused when it changed"},` +
				`"id":{"type":"string","maxLength":64},` + yieldSchema + `,` + tokensSchema + `},"required":["session"],"additionalProperties":false}`,
			outputSchema: answerSchema, handler: (*Server).input,
		},
		{
			name: "jobs", level: Read, idempotent: true,
			about: "List lines and commands that ran, newest last, or one by id.",
			inputSchema: `{"type":"object","properties":{"id":{"type":"string"},"session":{"type":"string"},"running":{"type":"boolean"},` +
				`"limit":{"type":"integer","minimum":1,"maximum":500}},"additionalProperties":false}`,
			outputSchema: `{"type":"object","properties":{"jobs":{"type":"array","items":{"type":"object"}}},"required":["jobs"]}`,
			handler:      (*Server).jobs,
		},
		{
			name: "list", level: Read, idempotent: true,
			about:        "List sessions with state, directory and program.",
			inputSchema:  `{"type":"object","properties":{"label":{"type":"string","description":"NAME or NAME=VALUE"},"running":{"type":"boolean"}},"additionalProperties":false}`,
			outputSchema: `{"type":"object","properties":{"sessions":{"type":"array","items":{"type":"object"}}},"required":["sessions"]}`,
			handler:      (*Server).list,
		},
		{
			name: "read", level: Read, idempotent: true,
			about: "Read output of a session: of its command n (0: newest), or from a cursor. max_tokens keeps errors, warnings and the end first. why: compare a failed command with its newest good run.",
			inputSchema: `{"type":"object","properties":{"session":{"type":"string"},"command":{"type":"integer","minimum":0},"since":{"type":"integer","minimum":0},` +
				`"to":{"type":"integer","minimum":0},"why":{"type":"boolean"},` + tokensSchema + `},"required":["session"],"additionalProperties":false}`,
			outputSchema: answerSchema, handler: (*Server).read,
		},
		{
			name: "screen", level: Read, idempotent: true,
			about: "Read a session's screen, for full-screen programs. since: version seen; an unchanged screen is not repeated.",
			inputSchema: `{"type":"object","properties":{"session":{"type":"string"},"since":{"type":"integer","minimum":0},` +
				`"scrollback":{"type":"integer","minimum":0,"maximum":1000},"picture":{"type":"boolean"}},"required":["session"],"additionalProperties":false}`,
			outputSchema: `{"type":"object","properties":{"text":{"type":"string"},"version":{"type":"integer"},"changed":{"type":"boolean"},` +
				`"cursor_row":{"type":"integer"},"cursor_col":{"type":"integer"},"needs":{"type":"string"}},"required":["version","changed"]}`,
			handler: (*Server).screen,
		},
		{
			name: "search", level: Read, idempotent: true,
			about: "Search all output, newest first.",
			inputSchema: `{"type":"object","properties":{"text":{"type":"string"},"regexp":{"type":"string","description":"RE2"},"session":{"type":"string"},` +
				`"limit":{"type":"integer","minimum":1,"maximum":200}},"additionalProperties":false}`,
			outputSchema: `{"type":"object","properties":{"hits":{"type":"array","items":{"type":"object"}},"next":{"type":"string"}},"required":["hits"]}`,
			handler:      (*Server).search,
		},
		{
			name: "start", level: Change, mayWait: true, runsLines: true,
			about: "Open a lasting session: a shell, or line (a REPL, dev server, ssh). Answers when it is idle, needs input or ends.",
			inputSchema: `{"type":"object","properties":{"name":{"type":"string","maxLength":128},"line":{"type":"string"},"cwd":{"type":"string"},` +
				`"env":{"type":"array","items":{"type":"string"},"description":"NAME=VALUE"},"labels":{"type":"object","additionalProperties":{"type":"string"}},` +
				`"cols":{"type":"integer","minimum":1},"rows":{"type":"integer","minimum":1},"id":{"type":"string","maxLength":64,"pattern":"^[0-9A-Za-z-]*$","description":"as exec's"},` + yieldSchema + `,` + tokensSchema + `},"additionalProperties":false}`,
			outputSchema: answerSchema, handler: (*Server).start,
		},
		{
			name: "stop", level: All, mayWait: true, idempotent: true, destructive: true,
			about: "End a job or session with its processes, or interrupt it; remove deletes an ended session and its history.",
			inputSchema: `{"type":"object","properties":{"id":{"type":"string","description":"job or session"},` +
				`"how":{"enum":["end","interrupt","remove"],"description":"default end"}},"required":["id"],"additionalProperties":false}`,
			outputSchema: answerSchema, handler: (*Server).stop,
		},
		{
			name: "wait", level: Read, mayWait: true, idempotent: true,
			about: "Wait for jobs or sessions: answers when the first (or all) ended, needs input, or until is met; else at the yield time, still running.",
			inputSchema: `{"type":"object","properties":{"for":{"type":"array","minItems":1,"maxItems":50,"items":{"type":"string"},"description":"ids or names"},` +
				`"all":{"type":"boolean"},"until":{"type":"string","description":"text=…, regexp=…, gone=…, quiet=2s, port=3000, anomaly (an error of earlier runs), exit"},` +
				`"since":{"type":"integer","minimum":0,"description":"cursor: only output after it"},` + yieldSchema + `,` + tokensSchema + `},"required":["for"],"additionalProperties":false}`,
			outputSchema: `{"type":"object","properties":{"results":{"type":"array","items":{"type":"object"}},"message":{"type":"string"}},"required":["results"]}`,
			handler:      (*Server).wait,
		},
	}
}

// Parts of schemas.
const (
	yieldSchema  = `"yield":{"type":"number","minimum":0,"maximum":45,"description":"s; default 10"}`
	tokensSchema = `"max_tokens":{"type":"integer","minimum":50,"maximum":100000,"description":"of output; default 2000"}`
	answerSchema = `{"type":"object","properties":{"state":{"enum":["running","exited","signalled","killed","lost","denied","refused","needs_input","needs_approval"]},` +
		`"exit_code":{"type":"integer"},"seconds":{"type":"number"},"needs":{"type":"string"},"session":{"type":"string"},"job":{"type":"string"},"output":{"type":"string"},` +
		`"cursor":{"type":"integer"},"changes":{"type":"integer"},"omitted":{"type":"object"},"summary":{"type":"string"},"message":{"type":"string"},"next":{"type":"string"}},"required":["state","output"]}`
)

// Defaults and bounds of call arguments.
const (
	defaultYield, maxYield   = 10.0, 45.0 // seconds
	defaultTokens, maxTokens = 2000, 100_000
	bytesPerToken            = 4
)

// addTool registers a tool. It checks arguments against the schema itself, so that errors also name the correct
// arguments.
func (s *Server) addTool(server *sdk.Server, t *tool) error {
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(t.inputSchema), &schema); err != nil {
		return fmt.Errorf("schema of %s: %w", t.name, err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return fmt.Errorf("schema of %s: %w", t.name, err)
	}
	row := &sdk.Tool{
		Name: t.name, Description: t.about, InputSchema: json.RawMessage(t.inputSchema),
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: t.level == Read, IdempotentHint: t.idempotent, DestructiveHint: &t.destructive, OpenWorldHint: new(bool)},
	}
	if t.outputSchema != "" {
		row.OutputSchema = json.RawMessage(t.outputSchema)
	}
	server.AddTool(row, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		args := fixArguments(&schema, req.Params.Arguments)
		if err := checkArguments(resolved, args); err != nil {
			return failure(fmt.Errorf("the arguments of %s are wrong: %w", t.name, err), "they are "+arguments(&schema)), nil
		}
		d := currentCallOf(ctx)
		if d == nil {
			return nil, errors.New("the call did not come through the server's middleware")
		}
		d.req = req
		res, err := t.handler(s, ctx, args)
		switch {
		case err == nil:
			return res, nil
		case isRPC(err):
			return nil, err
		case ctx.Err() != nil && errors.Is(err, ctx.Err()):
			off := failure(errors.New("call interrupted; its job continues"), "call "+call("jobs")+" to find it")
			off.StructuredContent.(*refusal).State = "running"
			return off, nil
		}
		return failure(err, ""), nil
	})
	return nil
}

// checkArguments returns an error for invalid arguments.
func checkArguments(schema *jsonschema.Resolved, raw json.RawMessage) error {
	v := map[string]any{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &v); err != nil {
			return errors.New("arguments are not a JSON object")
		}
	}
	err := schema.Validate(v)
	if err == nil {
		return largeIntegers(v)
	}
	text := plainNumbers.Replace(strings.TrimPrefix(err.Error(), "validating root: "))
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return errors.New(text)
}

// plainNumbers rewrites the numbers of bounds from fractions to their original form.
var plainNumbers = strings.NewReplacer("/1 is", " is", ".000000", "", "<invalid reflect.Value>", "null")

// largeIntegers returns an error for an argument beyond any offset, count or time.
func largeIntegers(v map[string]any) error {
	for name, x := range v {
		if n, ok := x.(float64); ok && (n > maxInteger || n < -maxInteger) {
			return fmt.Errorf("%s: %g is too large", name, n)
		}
	}
	return nil
}

// arguments lists a tool's arguments briefly.
func arguments(s *jsonschema.Schema) string {
	all := slices.Clone(s.PropertyOrder)
	if len(all) == 0 {
		for name := range s.Properties {
			all = append(all, name)
		}
	}
	for i, name := range all {
		p := s.Properties[name]
		kind := p.Type
		switch {
		case kind == "":
			kind = "one of " + fmt.Sprint(p.Enum)
		case p.Minimum != nil && p.Maximum != nil:
			kind += fmt.Sprintf(" from %g to %g", *p.Minimum, *p.Maximum)
		case p.Minimum != nil:
			kind += fmt.Sprintf(" from %g on", *p.Minimum)
		}
		for _, r := range s.Required {
			if r == name {
				kind += ", needed"
			}
		}
		all[i] = name + " (" + kind + ")"
	}
	if len(all) == 0 {
		return "none"
	}
	return sortedJoin(all)
}
