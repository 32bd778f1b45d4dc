//go:build unix

package spawn

import (
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

// sandboxFile, in a session's directory, says in which sandbox it was started: it is started again in that, and asked
// about it long after. It has mode 0600 as all there.
const sandboxFile = "sandbox.json"

// box is the sandbox that a process is started in.
type box struct {
	profile sandbox.Profile
	level   sandbox.Level
	have    sandbox.Have
	cwd     string // what $CWD of the profile is
	report  *sandbox.Report
	differ  string // on_difference that was asked for instead of the profile's
}

// haveHere is what this machine has for sandboxes.
func haveHere() sandbox.Have {
	h := sandbox.Have{Landlock: confine.LandlockABI(), Userns: confine.ProbeNamespaces(), Tool: map[sandbox.Level]string{}}
	for _, l := range []sandbox.Level{sandbox.Bwrap, sandbox.Docker, sandbox.Podman} {
		if path, err := exec.LookPath(string(l)); err == nil {
			h.Tool[l] = path
		}
	}
	return h
}

// boxOf is the sandbox of a profile, at the level it gets here.
func (s *Spawner) boxOf(name string) (*box, error) {
	file, wrong, err := sandbox.LoadFor(s.Dirs.SandboxFile(), name)
	if err != nil {
		return nil, sandboxError(err)
	}
	if wrong != nil {
		s.Log.Warn("only built-in sandbox profiles can be had", "err", wrong)
	}
	b := &box{have: haveHere()}
	if b.profile, err = file.Profile(name); err == nil {
		b.level, err = b.profile.Choose(b.have)
	}
	return b, sandboxError(err)
}

// toolAnswers bounds how long docker and podman take to say that they are there.
const toolAnswers = 30 * time.Second

// answers says why the service behind a level cannot be had: docker's program is often there where its daemon is not.
func (b *box) answers(env []string) error {
	if b.level != sandbox.Docker && b.level != sandbox.Podman {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), toolAnswers)
	defer cancel()
	ask := exec.CommandContext(ctx, b.have.Tool[b.level], "version")
	ask.Env, ask.WaitDelay = env, time.Second // which service it is env says
	said, err := ask.CombinedOutput()
	if err == nil {
		return nil
	}
	why := err.Error()
	if lines := strings.Split(strings.TrimSpace(string(said)), "\n"); lines[len(lines)-1] != "" {
		why = lines[len(lines)-1]
	}
	return &sandbox.LevelError{Level: b.level, Why: why, What: "start its service, or take another level; nothing was started"}
}

// sandboxError says what to do about it, too.
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

// enter has a plan be of a session in a sandbox.
func (s *Spawner) enter(p *Plan, name, onDifference string, limits *api.Limits) (err error) {
	if p.box, err = s.boxOf(name); err != nil {
		return err
	}
	pr := &p.box.profile
	if p.box.differ = onDifference; onDifference != "" {
		pr.OnDiffer = onDifference
	}
	p.env = pr.Environ(p.env)
	if err := p.box.answers(p.env); err != nil {
		return sandboxError(err)
	}
	if limits == nil && (pr.Memory > 0 || pr.CPU > 0 || pr.PIDs > 0) {
		return p.limit(&api.Limits{Memory: pr.Memory, CPU: pr.CPU, PIDs: pr.PIDs})
	}
	return nil
}

// observe has what a program does written down. It is in no sandbox then, and executions go unjudged, so that it is for
// persons only.
func (s *Spawner) observe(p *Plan, file string) error {
	if file == "" {
		return nil
	}
	conf := s.Conf.Get().Policy
	switch {
	case p.box != nil:
		return api.Errorf(api.CodeInvalid, "a run is observed or in a sandbox, not both").WithHint("leave one of them out")
	case !filepath.IsAbs(file):
		return api.Errorf(api.CodeInvalid, "%s is not absolute", file).WithHint("name a file by its whole path")
	case p.Record.Agent != "" || p.Record.Policy != "" || conf.Executions == config.ExecutionsAlways || conf.RequireExecutions:
		return api.Errorf(api.CodeInvalid, "what is judged while it runs cannot be observed: there is one listener").
			WithHint("observe it as a person, without --agent and --policy")
	}
	p.shim, p.spec.Observe = true, &confine.Observe{File: file}
	return nil
}

// place is where a session's program starts. Longterm's own directories are hidden but for what the session's shell reads
// and leaves.
func (s *Spawner) place(p *Plan) sandbox.Place {
	at := sandbox.Place{
		Home: getenv(p.env, "HOME"), Cwd: p.box.cwd, Own: []string{s.Dirs.Config, s.Dirs.State, s.Dirs.Run}, Runtime: getenv(p.env, "XDG_RUNTIME_DIR"),
	}
	if !filepath.IsAbs(at.Home) {
		at.Home, _ = os.UserHomeDir()
	}
	dir := s.Dirs.Session(p.Record.ID)
	if p.box.level == sandbox.Landlock && p.box.profile.Tmp {
		at.Kept = append(at.Kept, filepath.Join(dir, "tmp"))
	}
	if l := s.LaunchOf(p.Record.ID); l != nil {
		at.Needed = append(at.Needed, filepath.Join(dir, "shell"))
		if l.StateDir != "" {
			at.Kept = append(at.Kept, l.StateDir)
		}
	}
	return at
}

// checkSandbox finds what is wrong before anything is recorded.
func (s *Spawner) checkSandbox(p *Plan) error {
	if p.box == nil {
		return nil
	}
	if p.box.cwd == "" {
		p.box.cwd = p.Record.Cwd
	}
	_, err := p.box.profile.Resolve(s.place(p))
	return sandboxError(err)
}

// confine puts the process that is about to be started into its sandbox.
func (s *Spawner) confine(p *Plan) error {
	if p.box == nil {
		return nil
	}
	b := p.box
	if b.level == sandbox.Landlock && b.profile.Tmp { // where /tmp cannot be its own there is another one
		tmp := filepath.Join(s.Dirs.Session(p.Record.ID), "tmp")
		if err := os.MkdirAll(tmp, 0o700); err != nil {
			return StorageError(err, s.Dirs.State)
		}
		p.env = append(p.env, "TMPDIR="+tmp, "TMP="+tmp, "TEMP="+tmp)
	} else if b.profile.Tmp {
		p.env = append(p.env, "TMPDIR=/tmp", "TMP=/tmp", "TEMP=/tmp")
	}
	rules, err := b.profile.Resolve(s.place(p))
	if err != nil {
		return sandboxError(err)
	}
	b.report = rules.Report(b.level, b.have)
	b.report.OnDiffer = b.differ
	switch b.level {
	case sandbox.Landlock, sandbox.Userns:
		p.shim = true
		err = rules.Confine(&p.spec, b.level, s.serve(p))
	default:
		p.argv, err = rules.Command(b.level, &b.profile, append([]string{p.path}, p.argv[1:]...), p.env)
		p.path, p.spec.File = b.have.Tool[b.level], "" // which executes it
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

// serve is what the process outside of a sandbox is told, which lets it out to listed hosts.
func (s *Spawner) serve(p *Plan) sandbox.Serve {
	v := sandbox.Serve{Session: p.Record.ID, Profile: p.box.profile.Name, File: s.Dirs.SandboxFile()}
	if p.box.profile.OnDiffer == "ask" {
		v.Ask = s.Dirs.Socket()
	}
	return v
}

// again has a session that is started again be in the sandbox that it was in.
func (s *Spawner) again(p *Plan, id string) error {
	r, err := s.SandboxOf(id)
	if err != nil || r == nil {
		return err
	}
	if err := s.enter(p, r.Profile, r.OnDiffer, nil); err != nil {
		return err
	}
	if r.Rules != nil { // what its programs said of their directory since changes nothing
		p.box.cwd = r.Rules.Cwd
	}
	return nil
}

// SandboxOf is the sandbox that a session was started in; nil: none. With an error nobody knows.
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
		return nil, api.Errorf(api.CodeStorage, "the sandbox of the session is not known: %v", err).
			WithHint("it is not started again without one; start another session")
	}
	return &r, nil
}

// CheckWithin refuses what asks for a sandbox that a session was not started in.
func (s *Spawner) CheckWithin(id, name, profile, onDifference string) error {
	if profile == "" && onDifference == "" {
		return nil
	}
	r, err := s.SandboxOf(id)
	if err != nil {
		return err
	}
	if onDifference != "" && (r == nil || r.Rules == nil || r.Rules.Ask != (onDifference == "ask")) {
		return api.Errorf(api.CodeInvalid, "session %s is in no sandbox that answers what its profile does not list with %q", name, onDifference).
			WithHint("start one that does: longterm new --sandbox PROFILE --on-difference %s", onDifference)
	}
	if profile == "" {
		return nil
	}
	b, err := s.boxOf(profile)
	if err != nil {
		return err
	}
	hint := "start one that is: longterm new --sandbox %s; a line runs in the sandbox of its session"
	if r == nil || r.Rules == nil {
		return api.Errorf(api.CodeInvalid, "session %s is in no sandbox", name).WithHint(hint, profile)
	}
	p := &Plan{box: b, env: []string{"HOME=" + r.Rules.Home}}
	b.cwd, p.Record.ID = r.Rules.Cwd, id
	asked, err := b.profile.Resolve(s.place(p))
	if err != nil {
		return sandboxError(err)
	}
	weaker := b.profile.Level != "" && b.profile.Level != r.Level
	if weaker || r.Profile != profile && !r.Rules.Within(asked) {
		return api.Errorf(api.CodeInvalid, "session %s is in sandbox %s (level %s), which allows what %s does not", name, r.Profile, r.Level, profile).
			WithHint(hint, profile)
	}
	return nil
}

// ViewOf is a sandbox as clients see it.
func ViewOf(r *sandbox.Report) *api.Sandbox {
	if r == nil {
		return nil
	}
	return &api.Sandbox{
		Profile: r.Profile, Level: string(r.Level), Network: string(r.Network), Hosts: slices.Clone(r.Hosts), Summary: r.Summary,
		Holds: r.Holds, NotHeld: r.NotHeld, OnDifference: differs(r),
	}
}

// differs is what a sandbox does with what its profile does not list; empty: it is not known.
func differs(r *sandbox.Report) string {
	switch {
	case r.Rules == nil:
		return r.OnDiffer
	case r.Rules.Ask:
		return "ask"
	}
	return "deny"
}
