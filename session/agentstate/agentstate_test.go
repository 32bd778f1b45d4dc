package agentstate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func readScreen(t testing.TB, file string) Screen {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	title, rows, ok := strings.Cut(string(b), "\n")
	if !ok || !strings.HasPrefix(title, "title: ") {
		t.Fatalf("%s has no title", file)
	}
	return Screen{Title: strings.TrimPrefix(title, "title: "), Rows: strings.Split(rows, "\n")}
}

// TestRecordedScreens classifies screens that the agents drew, by the name of their file: AGENT-STATE[-WHAT]. Those of
// kimi are not recorded, those of aider are written by hand.
//
// FEATURES: R100
func TestRecordedScreens(t *testing.T) {
	files, err := filepath.Glob("testdata/screens/*.txt")
	if err != nil || len(files) < 18 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		part := strings.SplitN(strings.TrimSuffix(filepath.Base(file), ".txt"), "-", 3)
		a := ByName(part[0])
		if a == nil {
			t.Fatalf("%s: no such agent", file)
		}
		r, row := a.read(readScreen(t, file))
		if r == nil || string(r.State) != part[1] {
			t.Errorf("%s: rule %+v by %q", file, r, row)
		}
	}
}

// TestNeverIdleByDefault checks that a screen that no rule matches, and text that an agent has only printed, give no
// state.
//
// FEATURES: R100
func TestNeverIdleByDefault(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, a := range agents() {
		for _, rows := range [][]string{
			nil, {""}, {"$ "}, {"Loading…"}, {"Error: something", "    at main.js:1"},
			append([]string{"esc to interrupt", "Do you want to proceed?", "❯ 1. Yes"}, make([]string, 30)...)[:3:3],
		} {
			long := append(slices.Clone(rows), slices.Repeat([]string{"some text of an answer"}, 40)...)
			m := New(a)
			if v, _ := m.Look(Observation{Now: now, Screen: Screen{Rows: long}}); v.State != Unknown || v.Confident {
				t.Errorf("%s: %q is %+v", a.Name, rows, v)
			}
			if v, _ := m.Look(Observation{Now: now, Screen: Screen{Rows: long}, Waits: "screen"}); v.State != Unknown {
				t.Errorf("%s: that waits for the terminal is %+v", a.Name, v)
			}
		}
	}
}

// scene is a machine whose clock the test moves.
type scene struct {
	t *testing.T
	m *Machine
	l Observation
}

func newScene(t *testing.T, agent string) *scene {
	s := &scene{t: t, m: New(ByName(agent))}
	s.l.Now = time.Unix(1000, 0)
	return s
}

func (s *scene) shows(name string) *scene {
	s.l.Screen, s.l.Output = readScreen(s.t, "testdata/screens/"+name+".txt"), s.l.Now
	return s
}

func (s *scene) after(d time.Duration) *scene { s.l.Now = s.l.Now.Add(d); return s }

func (s *scene) typed() *scene { s.l.Typed = s.l.Now; return s }

func (s *scene) hook(event, kind string) *scene {
	s.t.Helper()
	if !s.m.Hook(Hook{Agent: s.m.agent.Name, Event: event, Kind: kind}, s.l.Now) {
		s.t.Errorf("%s has no effect", event)
	}
	return s
}

func (s *scene) is(want State, by Source, sure bool) *scene {
	s.t.Helper()
	v, again := s.m.Look(s.l)
	if v.State != want || v.Source != by || v.Confident != sure {
		s.t.Errorf("%+v, want %s by %q, sure %v", v, want, by, sure)
	}
	if !sure && v.State != Unknown && again == 0 {
		s.t.Error("it is uncertain, and will not be checked again")
	}
	return s
}

// TestByTheScreen checks that a screen alone decides: an indicator of a task must last, and after a task was typed an
// unchanged screen is no end.
//
// FEATURES: R100
func TestByTheScreen(t *testing.T) {
	s := newScene(t, "claude").is(Unknown, NoSource, false)
	s.shows("claude-rest-begin").is(Unknown, NoSource, false)
	s.after(time.Second).is(Idle, FromScreen, true)
	s.typed().is(Idle, FromScreen, false)
	s.after(time.Second).is(Idle, FromScreen, false)
	s.shows("claude-working").is(Working, FromScreen, true)
	s.after(time.Minute).shows("claude-rest").is(Working, FromScreen, true) // between two steps, perhaps
	s.after(time.Second).is(Done, FromScreen, true)
	s.shows("claude-needs_approval").is(NeedsApproval, FromScreen, true)
	s.shows("claude-rest-tool").after(time.Second).is(NeedsApproval, FromScreen, true).after(time.Second).is(Done, FromScreen, true)
	s.typed().after(2*time.Second).is(Done, FromScreen, true) // it answered at once, or without a task
}

// TestByHooks checks that hooks count at once. One that the screen contradicts for a while does not: an interrupted
// turn has no end event.
//
// FEATURES: R100
func TestByHooks(t *testing.T) {
	s := newScene(t, "claude").shows("claude-rest-begin").after(time.Second)
	s.typed().after(time.Millisecond).hook("UserPromptSubmit", "").is(Working, FromHook, true)
	s.hook("PermissionRequest", "").is(NeedsApproval, FromHook, true)
	s.shows("claude-needs_approval").is(NeedsApproval, FromHook, true)
	s.hook("PostToolUse", "").shows("claude-working").is(Working, FromHook, true)
	s.hook("Stop", "").is(Done, FromHook, true)
	s.shows("claude-rest").after(time.Minute).is(Done, FromHook, true)
	s.typed().after(time.Millisecond).hook("UserPromptSubmit", "").shows("claude-working").after(time.Minute).is(Working, FromHook, true)
	s.shows("claude-rest").is(Working, FromHook, true).after(3*time.Second).is(Done, FromScreen, true)
	if s.m.Hook(Hook{Event: "SomethingNew"}, s.l.Now) {
		t.Error("an unknown event has an effect")
	}
}

// TestWeakHooks checks that an end event of Codex counts only if its screen shows no work: Codex reports the end of
// every thread, also of the one that names the conversation.
//
// FEATURES: R100
func TestWeakHooks(t *testing.T) {
	s := newScene(t, "codex").shows("codex-working").is(Working, FromScreen, true)
	s.hook("agent-turn-complete", "").is(Working, FromScreen, true)
	s.shows("codex-rest").after(time.Second).is(Working, FromScreen, true).hook("agent-turn-complete", "").is(Done, FromHook, true)
}

// FEATURES: R100
func TestByTheKernel(t *testing.T) {
	s := newScene(t, "kimi")
	s.l.Screen.Rows, s.l.Output = []string{"something new"}, s.l.Now
	s.is(Working, FromKernel, true).after(3*time.Second).is(Unknown, NoSource, false)
	s.l.Waits = "confirm"
	s.is(NeedsInput, FromKernel, true)
}

// FEATURES: R100
func TestIdentify(t *testing.T) {
	for _, c := range []struct{ argv, want string }{
		{"claude", "claude"}, {"/usr/local/bin/claude --model opus", "claude"}, {"-claude", "claude"},
		{"node /usr/bin/gemini", "gemini"}, {"/usr/bin/node --max-old-space-size=12052 /n/.bin/gemini", "gemini"},
		{"node /x/node_modules/@openai/codex/bin/codex.js", "codex"}, {"npx -y @anthropic-ai/claude-code@latest", "claude"},
		{"python3.11 /home/u/.local/bin/aider --model x", "aider"}, {"opencode", "opencode"}, {"kimi", "kimi"},
		{"claude -p hello", ""}, {"claude mcp add x", ""}, {"codex exec task", ""}, {"gemini --prompt=x", ""}, {"npm exec @google/gemini-cli", "gemini"},
		{"vim claude", ""}, {"node server.js claude", ""}, {"cat /usr/bin/claude", ""}, {"node /srv/claude/app.js", ""}, {"", ""}, {"claude-monitor", ""},
	} {
		got := ""
		if a := Identify(strings.Fields(c.argv)); a != nil {
			got = a.Name
		}
		if got != c.want {
			t.Errorf("%q is %q, want %q", c.argv, got, c.want)
		}
	}
}

// FEATURES: R104
func TestResumeCommands(t *testing.T) {
	const id = "a32b2198-f44e-4fa7-b928-737959809f5b"
	for _, c := range []struct{ agent, argv, id, want string }{
		{"claude", "claude --model opus fix", id, "claude --model opus --resume " + id},
		{"claude", "claude", "", "claude --continue"},
		{"claude", "claude --resume " + id + " --verbose go", "", "claude --verbose --resume " + id},
		{"claude", "claude -c --dangerously-skip-permissions go", "", "claude --dangerously-skip-permissions --continue"},
		{"claude", "claude --session-id=" + id, "", "claude --resume " + id},
		{"claude", "claude --add-dir /a -- prompt", "--evil", "claude --add-dir /a --continue"},
		{"codex", "codex -m gpt-5 --search do it", id, "codex resume " + id + " -m gpt-5 --search"},
		{"codex", "codex resume " + id, "", "codex resume " + id},
		{"codex", "codex resume --last", "", "codex resume --last"},
		{"codex", "node /usr/bin/codex -s read-only", id, "/usr/bin/codex resume " + id + " -s read-only"},
		{"gemini", "/usr/bin/node --max-old-space-size=1 /n/.bin/gemini -m flash -i hello", id, "/n/.bin/gemini -m flash --resume " + id},
		{"gemini", "gemini -y", "", "gemini -y --resume latest"},
		{"opencode", "opencode /src --session=ses_1 -m a/b", "ses_2", "opencode -m a/b --session ses_2"},
		{"kimi", "kimi --yolo", "", "kimi --yolo --continue"},
		{"aider", "aider --model x --no-git", "", "aider --model x --no-git --restore-chat-history"},
	} {
		if got := strings.Join(ByName(c.agent).Command(strings.Fields(c.argv), c.id), " "); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.argv, c.id, got, c.want)
		}
	}
	if got := ByName("codex").OpenID("/h/.codex/sessions/2026/11/23/rollout-2026-11-23T00-47-48-01a205df-958c-7153-9de7-b262c29087c1.jsonl"); got != "01a205df-958c-7153-9de7-b262c29087c1" {
		t.Error(got)
	}
}

// FEATURES: R100
func TestReadHook(t *testing.T) {
	for _, c := range []struct {
		of, event, json string
		want            Hook
	}{
		{"claude", "", `{"session_id":"a-1","transcript_path":"/h/.claude/projects/x","cwd":"/w","hook_event_name":"Notification","message":"needs you","notification_type":"permission_prompt"}`,
			Hook{"claude", "Notification", "", "permission_prompt", "a-1", "/w", "needs you"}},
		{"", "stop", `{"session_id":"a-1","transcript_path":"/h/.gemini/tmp/x","hook_event_name":"AfterAgent"}`,
			Hook{Agent: "gemini", Event: "AfterAgent", Word: "stop", Conversation: "a-1"}},
		{"", "stop", `{"type":"session.idle","properties":{"sessionID":"ses_1"}}`, Hook{Agent: "opencode", Event: "session.idle", Word: "stop", Conversation: "ses_1"}},
		{"", "", `{"type":"agent-turn-complete","thread-id":"t1","cwd":"/w"}`, Hook{Agent: "codex", Event: "agent-turn-complete", Conversation: "t1", Cwd: "/w"}},
		{"gemini", "AfterAgent", "", Hook{Agent: "gemini", Event: "AfterAgent", Word: "AfterAgent"}},
		{"", "Stop", `{"session_id":"--evil; rm","cwd":"w","message":"a\u001b[31mb"}`, Hook{Event: "Stop", Word: "Stop", Message: "a [31mb"}},
	} {
		h, err := ReadHook(c.of, c.event, []byte(c.json))
		if err != nil || h != c.want {
			t.Errorf("%s: %+v, %v", c.json, h, err)
		}
	}
	for _, bad := range []string{"{", "[]", `{}`, `{"hook_event_name":1}`, strings.Repeat(" ", MaxHook+1)} {
		if h, err := ReadHook("claude", "", []byte(bad)); err == nil {
			t.Errorf("%.20q is %+v", bad, h)
		}
	}
}

// TestBadRules checks that invalid rule files are rejected with the reason.
func TestBadRules(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{`{"agent":"x"}`, "needs a name"},
		{`{"agent":"x","version":1,"programs":["x"],"rulez":[]}`, "unknown field"},
		{`{"agent":"x","version":1,"programs":["x"],"rules":[{"state":"sleeping","reason":"r","rows":["a"]}]}`, "unknown state"},
		{`{"agent":"x","version":1,"programs":["x"],"rules":[{"state":"working","reason":"r","rows":["("]}]}`, "missing closing"},
		{`{"agent":"x","version":1,"programs":["x"],"rules":[{"state":"working","reason":"r"}]}`, "looks at nothing"},
		{`{"agent":"x","version":1,"programs":["x"],"rules":[{"state":"working","rows":["a"]}]}`, "no reason"},
	} {
		a, err := load([]byte(c.json))
		if err == nil {
			err = a.compile()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.json, err)
		}
	}
}

// TestRulesAreCompiledWhenTheyAreNeeded checks that rules are compiled when the first screen is classified, not for
// each program that may be an agent.
func TestRulesAreCompiledWhenTheyAreNeeded(t *testing.T) {
	a, err := load([]byte(`{"agent":"x","version":1,"programs":["x"],"rules":[{"state":"working","reason":"r","title":"t","rows":["a"],"none":["b"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r := &a.Rules[0]
	if r.title != nil || r.rows != nil || r.none != nil {
		t.Error("they are compiled before")
	}
	if got, row := a.read(Screen{Title: "t", Rows: []string{"a"}}); got != r || row != "a" {
		t.Errorf("%v, %q", got, row)
	}
	for _, known := range agents() {
		if err := known.compile(); err != nil {
			t.Errorf("%s: %v", known.Name, err)
		}
	}
}

// FuzzHook checks that no output, title or hook message of a program breaks the machine, and no id passes that a shell
// or a flag parser could misread.
func FuzzHook(f *testing.F) {
	f.Add("claude", "Stop", []byte(`{"session_id":"a","hook_event_name":"Stop","message":"m"}`), "❯ \n────")
	f.Add("", "", []byte(`{"type":"agent-turn-complete","thread-id":"t"}`), "› 1. Yes")
	f.Fuzz(func(t *testing.T, of, event string, b []byte, screen string) {
		h, err := ReadHook(of, event, b)
		if err != nil {
			return
		}
		if h.Conversation != "" && (h.Conversation[0] == '-' || strings.ContainsAny(h.Conversation, " ;&|$`'\"\\\n/")) {
			t.Errorf("id %q", h.Conversation)
		}
		a := ByName(h.Agent)
		if a == nil {
			return
		}
		m := New(a)
		m.Hook(h, time.Unix(1, 0))
		v, _ := m.Look(Observation{Now: time.Unix(2, 0), Screen: Screen{Title: screen, Rows: strings.Split(screen, "\n")}})
		if !slices.Contains(States, v.State) {
			t.Errorf("%+v", v)
		}
		for _, arg := range a.Command(strings.Fields(screen), h.Conversation) {
			_ = arg
		}
	})
}

// TestToolThatAsks checks that a hook that requests permission for a tool is a question if the tool is one.
//
// FEATURES: R100
func TestToolThatAsks(t *testing.T) {
	for tool, want := range map[string]State{"AskUserQuestion": NeedsInput, "Bash": NeedsApproval} {
		h, err := ReadHook("claude", "permission", []byte(`{"hook_event_name":"PermissionRequest","tool_name":"`+tool+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		brief, err := json.Marshal(h.Brief()) // as the daemon receives it
		if err != nil {
			t.Fatal(err)
		}
		if h, err = ReadHook("claude", "permission", brief); err != nil {
			t.Fatal(err)
		}
		if r := ByName("claude").means(&h); r == nil || r.State != want {
			t.Errorf("%s: %+v, want %s", tool, r, want)
		}
	}
}
