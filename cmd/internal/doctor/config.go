//go:build unix

package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/config"
)

// checkConfiguration checks the configuration file, and what the daemon reads from it.
func checkConfiguration(ctx context.Context, d *Doctor) finding {
	path := d.Dirs.ConfigFile()
	f, src, err := config.ReadFile(path)
	if err != nil {
		list := config.ProblemsOf(err)
		texts := make([]string, len(list))
		for i := range list {
			texts[i] = list[i].Error()
		}
		return fail("fix it with `longterm config edit`; until then the last valid values, or the defaults, apply", "%s", strings.Join(texts, "; "))
	}
	if err := f.ApplyEnv(os.Getenv); err != nil {
		return warn("unset the variable or give it another value", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	for _, key := range []string{"shells.default"} { // values that name files
		v, err := f.Value(key)
		if err != nil || v.Value == "" {
			continue
		}
		if _, err := os.Stat(v.Value); err != nil {
			return warn("run `longterm config set "+key+" PATH`", "%s (%s): %v; a default shell is used", key, v.SourceText(), err)
		}
	}
	if st, err := d.Quiet.Status(ctx); err == nil && len(st.Config.Problems) > 0 {
		return warn("run `longterm doctor` again in a moment", "%s: valid, but not applied yet by the daemon", path)
	}
	if src == nil {
		return ok("%s: not found; using the defaults", path)
	}
	return ok("%s: valid", path)
}

// checkHooks checks for hooks that fail, and for configured hooks whose program is missing.
func checkHooks(ctx context.Context, d *Doctor) finding {
	var wrong []string
	there := 0
	if f, _, err := config.ReadFile(d.Dirs.ConfigFile()); err == nil {
		for i := range f.Settings.Hooks {
			h := &f.Settings.Hooks[i]
			if h.Webhook != "" { // posts report their failures with the webhooks
				continue
			}
			if _, err := exec.LookPath(h.Run[0]); err != nil {
				wrong = append(wrong, fmt.Sprintf("config:%s has no program to run: %v", h.Name, err))
			}
		}
		there = len(f.Settings.Hooks)
	}
	list, err := d.Quiet.Subscriptions(ctx)
	if err != nil && len(wrong) == 0 {
		return ok("daemon not running; %s in the configuration", output.CountNoun(there, "hook", "hooks"))
	}
	there = 0
	for i := range list {
		s := &list[i]
		if s.Hook != "" {
			there++
		}
		if s.Failure != nil {
			wrong = append(wrong, fmt.Sprintf("%s failed at %s (%s): %s", s.Name, s.Failure.At.Local().Format(time.DateTime),
				output.CountNoun(s.Failed, "failure", "failures"), s.Failure.Reason))
		}
	}
	if len(wrong) > 0 {
		return warn("see `longterm events ls`; fix the command in its subscription, or with `longterm config edit`",
			"%s", output.Printable(strings.Join(wrong, "; ")))
	}
	return ok("%s", output.CountNoun(there, "hook", "hooks"))
}
