//go:build unix

package spawn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/sandbox"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// sandboxFile, in a session's directory, records its sandbox for restarts and later queries. Like all files there, it
// has mode 0600.
const sandboxFile = "sandbox.json"

// sandboxPlan is the sandbox in which a process is started.
type sandboxPlan struct {
	profile      sandbox.Profile
	level        sandbox.Level
	available    sandbox.Features // mechanisms of this machine
	cwd          string           // value of $CWD in the profile
	report       *sandbox.Report
	onDifference string   // requested on_difference, overrides the profile's
	drafts       []string // directories that are written as drafts
	size         int64    // requested limit of the drafts' changes, bytes
}

// detectCapabilities returns the sandbox mechanisms of this machine.
func detectCapabilities() sandbox.Features {
	h := sandbox.Features{Landlock: confine.LandlockABI(), Userns: confine.ProbeNamespaces(), ToolPaths: map[sandbox.Level]string{}}
	for _, l := range sandbox.Levels() {
		if l.Tool() == "" {
			continue
		}
		if path, err := exec.LookPath(l.Tool()); err == nil {
			h.ToolPaths[l] = path
		}
	}
	return h
}

// sandboxFor returns the sandbox of a profile, at the level available here.
func (s *Spawner) sandboxFor(name string, drafts ...string) (*sandboxPlan, error) {
	file, wrong, err := sandbox.LoadFor(s.Dirs.SandboxFile(), name)
	if err != nil {
		return nil, sandboxError(err)
	}
	if wrong != nil {
		s.Log.Warn("only built-in sandbox profiles available", "err", wrong)
	}
	b := &sandboxPlan{available: detectCapabilities(), drafts: drafts}
	b.profile, err = file.Profile(name)
	switch {
	case err != nil:
	case drafts != nil:
		b.level, err = b.profile.ChooseDraft(b.available)
	default:
		b.level, err = b.profile.Choose(b.available)
	}
	return b, sandboxError(err)
}

// toolTimeout limits the wait for docker and podman.
const toolTimeout = 30 * time.Second

// checkService returns why the service behind a level is unavailable: docker's client is often installed without a
// running daemon.
func (b *sandboxPlan) checkService(env []string) error {
	if b.level != sandbox.Docker && b.level != sandbox.Podman {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), toolTimeout)
	defer cancel()
	ask := exec.CommandContext(ctx, b.available.ToolPaths[b.level], "version")
	ask.Env, ask.WaitDelay = env, time.Second // env selects the service
	said, err := ask.CombinedOutput()
	if err == nil {
		return nil
	}
	why := err.Error()
	if lines := strings.Split(strings.TrimSpace(string(said)), "\n"); lines[len(lines)-1] != "" {
		why = lines[len(lines)-1]
	}
	return &sandbox.LevelError{Level: b.level, Why: why, NextStep: "start its service, or take another level; nothing was started"}
}

// sandboxError converts an error and adds a hint.
func sandboxError(err error) error {
	if err == nil {
		return nil
	}
	e := api.Errorf(api.CodeInvalid, "%v", err)
	var level *sandbox.LevelError
	if errors.As(err, &level) {
		e = api.Errorf(api.CodeUnavailable, "%v", err)
	}
	var with interface{ Hint() string }
	if errors.As(err, &with) {
		return e.WithHint("%s", with.Hint())
	}
	return e.WithHint("nothing was started; put it right, or start without a sandbox")
}

// enterRequested puts a planned session into the sandbox of its request, if it requests one or a draft.
func (s *Spawner) enterRequested(p *Plan, n *api.NewSession) error {
	name := n.Sandbox
	if len(n.Draft) > 0 {
		name = cmp.Or(name, draftProfile)
	}
	switch {
	case name == "" && n.OnDifference != "":
		return api.Errorf(api.CodeInvalid, "on_difference requires a sandbox").WithHint("name a profile (--sandbox), or omit on_difference")
	case n.DraftSize != 0 && len(n.Draft) == 0:
		return api.Errorf(api.CodeInvalid, "draft_size_bytes requires a draft").WithHint("name its directories (--draft), or omit draft_size_bytes")
	case n.DraftSize != 0 && n.DraftSize < minDraftSize:
		return api.Errorf(api.CodeInvalid, "draft size of %d bytes: less than %d", n.DraftSize, minDraftSize).WithHint("choose a larger one, such as 1G; nothing was started")
	case name == "":
		return nil
	}
	dirs, err := s.draftDirs(n, p.env)
	if err != nil {
		return err
	}
	if err := s.enter(p, name, n.OnDifference, n.Limits, dirs...); err != nil {
		return err
	}
	p.sandbox.size = n.DraftSize
	return nil
}

// enter puts a planned session into a sandbox, with drafts of some directories.
func (s *Spawner) enter(p *Plan, name, onDifference string, limits *api.Limits, drafts ...string) (err error) {
	if p.sandbox, err = s.sandboxFor(name, drafts...); err != nil {
		return err
	}
	pr := &p.sandbox.profile
	if p.sandbox.onDifference = onDifference; onDifference != "" {
		pr.OnDifference = onDifference
	}
	p.env = pr.Environ(p.env)
	if err := p.sandbox.checkService(p.env); err != nil {
		return sandboxError(err)
	}
	if limits == nil && (pr.Memory > 0 || pr.CPU > 0 || pr.PIDs > 0) {
		return p.setLimits(&api.Limits{Memory: pr.Memory, CPU: pr.CPU, PIDs: pr.PIDs})
	}
	return nil
}

// recordAccesses records what a program accesses. The program runs without sandbox and execution checks, so only users may do
// that.
func (s *Spawner) recordAccesses(p *Plan, file string) error {
	if file == "" {
		return nil
	}
	conf := s.Conf.Get().Policy
	switch {
	case p.sandbox != nil:
		return api.Errorf(api.CodeInvalid, "a run cannot be both observed and sandboxed").WithHint("omit one of them")
	case !filepath.IsAbs(file):
		return api.Errorf(api.CodeInvalid, "%s is not absolute", file).WithHint("name a file by its whole path")
	case p.Record.Agent != "" || p.Record.Policy != "" || conf.Executions == config.ExecutionsAlways || conf.RequireExecutions:
		return api.Errorf(api.CodeInvalid, "sessions with execution checks cannot be observed").
			WithHint("observe it as a user, without --agent and --policy")
	}
	p.shim, p.spec.Observe = true, &confine.Observe{File: file}
	return nil
}

// place returns the directories of a session's sandbox. Longterm's own directories are hidden, except those that the
// session's shell uses, and the files that are put into the session.
func (s *Spawner) place(p *Plan) sandbox.Place {
	at := sandbox.Place{
		Home: getenv(p.env, "HOME"), Cwd: p.sandbox.cwd, Draft: p.sandbox.drafts, DraftSize: p.sandbox.size, OwnDirs: []string{s.Dirs.Config, s.Dirs.State, s.Dirs.Run}, Runtime: getenv(p.env, "XDG_RUNTIME_DIR"),
	}
	if !filepath.IsAbs(at.Home) {
		at.Home, _ = os.UserHomeDir()
	}
	dir := s.Dirs.Session(p.Record.ID)
	if !p.sandbox.level.MountsTmp() && p.sandbox.profile.PrivateTmp {
		at.WriteInHidden = append(at.WriteInHidden, filepath.Join(dir, "tmp"))
	}
	at.ReadInHidden = append(at.ReadInHidden, s.Dirs.SessionFiles(p.Record.ID))
	if l := s.LaunchOf(p.Record.ID); l != nil {
		at.ReadInHidden = append(at.ReadInHidden, filepath.Join(dir, "shell"))
		if l.StateDir != "" {
			at.WriteInHidden = append(at.WriteInHidden, l.StateDir)
		}
	}
	return at
}

// checkSandbox reports errors of the sandbox before anything is stored.
func (s *Spawner) checkSandbox(p *Plan) error {
	if p.sandbox == nil {
		return nil
	}
	if p.sandbox.cwd == "" {
		p.sandbox.cwd = p.Record.Cwd
	}
	if _, err := p.sandbox.profile.Resolve(s.place(p)); err != nil || p.sandbox.drafts == nil {
		return sandboxError(err)
	}
	return s.checkDrafts()
}

// confine puts the process that is about to be started into its sandbox.
func (s *Spawner) confine(p *Plan) error {
	if p.sandbox == nil {
		return nil
	}
	b := p.sandbox
	if err := os.MkdirAll(s.Dirs.SessionFiles(p.Record.ID), 0o700); err != nil {
		return StorageError(err, s.Dirs.State)
	}
	if !b.level.MountsTmp() && b.profile.PrivateTmp { // without a private /tmp, use another directory
		tmp := filepath.Join(s.Dirs.Session(p.Record.ID), "tmp")
		if err := os.MkdirAll(tmp, 0o700); err != nil {
			return StorageError(err, s.Dirs.State)
		}
		p.env = append(p.env, "TMPDIR="+tmp, "TMP="+tmp, "TEMP="+tmp)
	} else if b.profile.PrivateTmp {
		p.env = append(p.env, "TMPDIR=/tmp", "TMP=/tmp", "TEMP=/tmp")
	}
	rules, err := b.profile.Resolve(s.place(p))
	if err != nil {
		return sandboxError(err)
	}
	if err := s.mountDrafts(p, rules); err != nil {
		return err
	}
	b.report = rules.Report(b.level, b.available)
	b.report.OnDifference = b.onDifference
	switch b.level {
	case sandbox.Landlock, sandbox.Userns:
		p.shim = true
		err = rules.Confine(&p.spec, b.level, s.proxySettings(p))
	default:
		p.argv, err = rules.Command(b.level, &b.profile, append([]string{b.program(p)}, p.argv[1:]...), p.env, p.Record.Pipe)
		p.path, p.spec.File = b.available.ToolPaths[b.level], "" // which executes it
	}
	if err != nil {
		return sandboxError(err)
	}
	text, err := json.Marshal(b.report)
	if err == nil {
		err = atomicfile.Write(filepath.Join(s.Dirs.Session(p.Record.ID), sandboxFile), atomicfile.Options{}, text)
	}
	if err != nil {
		return StorageError(err, s.Dirs.State)
	}
	return nil
}

// program returns the program for the tool of a level: its path, or its name for a container, whose image may have it at
// another path.
func (b *sandboxPlan) program(p *Plan) string {
	isContainer := b.level == sandbox.Docker || b.level == sandbox.Podman
	if name := p.argv[0]; isContainer && name != "" && name[0] != '-' && !strings.Contains(name, "/") {
		return name
	}
	return p.path
}

// proxySettings returns the parameters of the proxy that connects a sandbox to listed hosts.
func (s *Spawner) proxySettings(p *Plan) sandbox.ProxyConfig {
	v := sandbox.ProxyConfig{Session: p.Record.ID, Profile: p.sandbox.profile.Name, File: s.Dirs.SandboxFile()}
	if p.sandbox.profile.OnDifference == "ask" {
		v.Ask = s.Dirs.Socket()
	}
	return v
}

// restoreSandbox plans a restored session in its original sandbox.
func (s *Spawner) restoreSandbox(p *Plan, id string) error {
	r, err := s.SandboxOf(id)
	if err != nil || r == nil {
		return err
	}
	var drafts []string
	if r.Rules != nil {
		drafts = r.Rules.DraftDirs()
	}
	if err := s.enter(p, r.Profile, r.OnDifference, nil, drafts...); err != nil {
		return err
	}
	if r.Rules != nil { // ignores the directory that its programs reported
		p.sandbox.cwd, p.sandbox.size = r.Rules.Cwd, r.Rules.DraftSize
	}
	return nil
}

// SandboxOf returns the sandbox in which a session was started, or nil. An error means that it is unknown.
func (s *Spawner) SandboxOf(id string) (*sandbox.Report, error) {
	text, err := os.ReadFile(filepath.Join(s.Dirs.Session(id), sandboxFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var r sandbox.Report
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return nil, api.Errorf(api.CodeStorage, "sandbox of the session unknown: %v", err).
			WithHint("it cannot restart without its sandbox; start another session")
	}
	return &r, nil
}

// CheckWithin rejects requests for a sandbox other than the session's.
func (s *Spawner) CheckWithin(id, name, profile, onDifference string) error {
	if profile == "" && onDifference == "" {
		return nil
	}
	r, err := s.SandboxOf(id)
	if err != nil {
		return err
	}
	if onDifference != "" && (r == nil || r.Rules == nil || r.Rules.AsksOnDifference != (onDifference == "ask")) {
		return api.Errorf(api.CodeInvalid, "session %s is not in a sandbox with on_difference %q", name, onDifference).
			WithHint("start one with `longterm new --sandbox PROFILE --on-difference %s`", onDifference)
	}
	if profile == "" {
		return nil
	}
	b, err := s.sandboxFor(profile)
	if err != nil {
		return err
	}
	hint := "start one that is: longterm new --sandbox %s; a line runs in the sandbox of its session"
	if r == nil || r.Rules == nil {
		return api.Errorf(api.CodeInvalid, "session %s is in no sandbox", name).WithHint(hint, profile)
	}
	p := &Plan{sandbox: b, env: []string{"HOME=" + r.Rules.Home}}
	b.cwd, p.Record.ID = r.Rules.Cwd, id
	asked, err := b.profile.Resolve(s.place(p))
	if err != nil {
		return sandboxError(err)
	}
	weaker := b.profile.Level != "" && b.profile.Level != r.Level
	if weaker || r.Profile != profile && !r.Rules.IsWithin(asked) {
		return api.Errorf(api.CodeInvalid, "session %s is in sandbox %s (level %s), which allows what %s does not", name, r.Profile, r.Level, profile).
			WithHint(hint, profile)
	}
	return nil
}

// ViewOf converts a sandbox report to its API form.
func ViewOf(r *sandbox.Report) *api.Sandbox {
	if r == nil {
		return nil
	}
	return &api.Sandbox{
		Profile: r.Profile, Level: string(r.Level), Network: string(r.Network), Hosts: slices.Clone(r.Hosts), Summary: r.Summary,
		Holds: r.Enforced, NotHeld: r.NotEnforced, OnDifference: differenceAction(r),
	}
}

// differenceAction returns what a sandbox does with programs outside its profile, or "" if unknown.
func differenceAction(r *sandbox.Report) string {
	switch {
	case r.Rules == nil:
		return r.OnDifference
	case r.Rules.AsksOnDifference:
		return "ask"
	}
	return "deny"
}
