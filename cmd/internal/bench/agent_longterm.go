//go:build unix

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// longtermWay is an agent that calls the MCP server.
type longtermWay struct {
	b         *agentBench
	s         *sdk.ClientSession
	calls     int
	asked     int // bytes, as are
	answered  int
	terminals map[string]string // sessions by the names of steps
	seen      map[string]uint64 // how far the agent has read of each
}

func newLongtermWay(ctx context.Context, b *agentBench) (way, error) {
	w := &longtermWay{b: b, terminals: map[string]string{}, seen: map[string]uint64{}}
	if err := w.connect(ctx); err != nil {
		return nil, err
	}
	if b.report.Schema == 0 {
		list, err := w.s.ListTools(ctx, nil)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(list)
		if err != nil {
			return nil, err
		}
		b.report.Schema = len(text) / 4
	}
	return w, nil
}

func (w *longtermWay) connect(ctx context.Context) (err error) {
	cmd := w.b.command(context.WithoutCancel(ctx), w.b.self, "mcp", "--agent", "bench")
	cmd.Dir = w.b.dir
	w.s, err = sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).Connect(context.WithoutCancel(ctx), &sdk.CommandTransport{Command: cmd}, nil)
	return err
}

func (w *longtermWay) name() string { return "longterm" }
func (w *longtermWay) spent() (calls, asked, bytes int) {
	return w.calls, w.asked, w.asked + w.answered
}

// close ends what the task left.
func (w *longtermWay) close() {
	ctx := context.Background()
	for _, id := range w.terminals {
		_, _ = w.s.CallTool(ctx, &sdk.CallToolParams{Name: "stop", Arguments: map[string]any{"id": id}})
	}
	_ = w.s.Close()
}

// crash kills the daemon.
func (w *longtermWay) crash(ctx context.Context) error {
	out, err := w.b.lt(ctx, "daemon", "status", "--json")
	if err != nil {
		return err
	}
	var st struct {
		PID int `json:"daemon_pid"`
	}
	if err := json.Unmarshal([]byte(out), &st); err != nil {
		return err
	}
	p, err := os.FindProcess(st.PID)
	if err != nil {
		return err
	}
	return p.Kill()
}

// restart is the agent anew: it knows nothing, and its server is another one.
func (w *longtermWay) restart(ctx context.Context) error {
	_ = w.s.Close()
	clear(w.seen)
	return w.connect(ctx)
}

// reply is an answer of the server.
type agentReply struct {
	text    string
	State   string `json:"state"`
	Needs   string `json:"needs"`
	Session string `json:"session"`
	Job     string `json:"job"`
	Cursor  uint64 `json:"cursor"`
	Results []agentReply
	Jobs    []struct {
		ID string `json:"id"`
	} `json:"jobs"`
}

func (r *agentReply) going() bool { return r.State == "running" }

func (w *longtermWay) call(ctx context.Context, tool string, args map[string]any) (agentReply, error) {
	asked, err := plainJSON(args)
	if err != nil {
		return agentReply{}, err
	}
	w.calls++
	res, err := w.s.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return agentReply{}, err
	}
	var text strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			text.WriteString(t.Text)
		}
	}
	structured, err := plainJSON(res.StructuredContent)
	if err != nil {
		return agentReply{}, err
	}
	w.asked += len(tool) + len(asked)
	w.answered += max(text.Len(), len(structured))
	if res.IsError {
		return agentReply{}, errors.New(text.String())
	}
	var r agentReply
	if err := json.Unmarshal(structured, &r); err != nil {
		return agentReply{}, err
	}
	r.text = text.String()
	if len(r.Results) > 0 {
		of := r.Results[0]
		r.State, r.Needs, r.Session, r.Job, r.Cursor = of.State, of.Needs, of.Session, of.Job, of.Cursor
	}
	return r, nil
}

// plainJSON is a value as clients write it: without Go's escapes of < and >.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// agentCalls is how many calls an agent makes for a step until it gives up.
const agentCalls = 10

// agentYield is how long a call may take.
const agentYield = 45

func (w *longtermWay) do(ctx context.Context, s *step) (string, error) {
	if s.does == "restart" {
		return w.overRestart(ctx, s)
	}
	r, err := w.begin(ctx, s)
	shown := r.text
	if r.Session != "" {
		w.terminals[s.on] = r.Session
		w.seen[s.on] = r.Cursor
	}
	for most := w.calls + agentCalls; err == nil && s.until != "" && !w.told(s, &r, shown); {
		if w.calls >= most {
			return shown, fmt.Errorf("the agent does not get on: %s", r.text)
		}
		args := map[string]any{"for": []string{w.terminals[s.on]}, "yield": agentYield}
		if r.Cursor > 0 { // what it was shown is not shown again
			args["since"] = r.Cursor
		}
		if s.until == "input" && r.Needs == "screen" { // a full-screen program: what does it show?
			r, err = w.call(ctx, "screen", map[string]any{"session": w.terminals[s.on]})
			if shown += r.text; err != nil || regexp.MustCompile(s.want).MatchString(shown) {
				return shown, err
			}
		}
		if s.until != "end" {
			args["until"] = "regexp=" + s.want
		}
		r, err = w.call(ctx, "wait", args)
		shown += r.text
		w.seen[s.on] = max(w.seen[s.on], r.Cursor)
	}
	if err == nil && s.find != "" && !regexp.MustCompile(s.want).MatchString(shown) {
		args := map[string]any{"text": s.find, "limit": 5}
		if id := w.terminals[s.on]; id != "" {
			args["session"] = id
		}
		r, err = w.call(ctx, "search", args)
		shown += r.text
	}
	return shown, err
}

// told says whether the agent knows of a step's event.
func (w *longtermWay) told(s *step, r *agentReply, shown string) bool {
	saw := s.want == "" || regexp.MustCompile(s.want).MatchString(shown)
	switch s.until {
	case "end":
		return !r.going() && !strings.HasPrefix(r.State, "needs")
	case "text":
		return saw
	}
	return saw && (r.Needs != "" || strings.HasPrefix(r.State, "needs") || !r.going())
}

// begin makes a step's first call.
func (w *longtermWay) begin(ctx context.Context, s *step) (agentReply, error) {
	session := w.terminals[s.on]
	switch {
	case s.typed != "":
		return w.call(ctx, "input", map[string]any{"session": session, "text": s.typed, "enter": true})
	case len(s.keys) > 0:
		return w.call(ctx, "input", map[string]any{"session": session, "keys": s.keys})
	case s.run == "" && s.does != "": // something happens that the agent waits for
		return w.call(ctx, "wait", w.on(s, map[string]any{"for": []string{session}, "until": "regexp=" + s.want, "yield": agentYield}))
	case s.run == "": // what was begun before
		return w.call(ctx, "wait", w.on(s, map[string]any{"for": []string{session}, "yield": agentYield}))
	case s.stays:
		args := map[string]any{"line": s.run, "cwd": w.b.at}
		if s.until == "text" {
			args["yield"] = 1
		}
		return w.call(ctx, "start", args)
	case s.until == "":
		return w.call(ctx, "exec", map[string]any{"line": s.run, "cwd": w.b.at, "yield": 0})
	}
	return w.call(ctx, "exec", map[string]any{"line": s.run, "cwd": w.b.at, "yield": agentYield})
}

// on has a call go on where the agent has read to, as the answer before said.
func (w *longtermWay) on(s *step, args map[string]any) map[string]any {
	if at := w.seen[s.on]; at > 0 {
		args["since"] = at
	}
	return args
}

// overRestart begins a line, is another agent in the middle of it, and finds it again.
func (w *longtermWay) overRestart(ctx context.Context, s *step) (string, error) {
	r, err := w.call(ctx, "exec", map[string]any{"line": s.run, "cwd": w.b.at, "yield": meanwhileTime.Seconds()})
	if err != nil {
		return "", err
	}
	w.terminals[s.on] = r.Session
	if err := w.restart(ctx); err != nil {
		return "", err
	}
	if r, err = w.call(ctx, "jobs", map[string]any{"running": true}); err != nil {
		return "", err
	}
	if len(r.Jobs) == 0 {
		return "", fmt.Errorf("the job is not found again: %s", r.text)
	}
	r, err = w.call(ctx, "wait", map[string]any{"for": []string{r.Jobs[0].ID}, "yield": agentYield})
	return r.text, err
}
