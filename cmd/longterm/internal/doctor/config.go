//go:build unix

package doctor

import (
	"context"
	"os"
	"strings"

	"github.com/longterm-dev/longterm/session/config"
)

// checkConfiguration looks at the file, and at what the daemon makes of it.
func checkConfiguration(ctx context.Context, d *Doctor) finding {
	path := d.Dirs.ConfigFile()
	f, src, err := config.Read(path)
	if err != nil {
		list := config.ProblemsOf(err)
		texts := make([]string, len(list))
		for i := range list {
			texts[i] = list[i].Error()
		}
		return fail("fix it with `longterm config edit`; until then the last good values, or the defaults, are in effect", "%s", strings.Join(texts, "; "))
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
			return warn("run `longterm config set "+key+" PATH`", "%s (%s): %v; another shell is started", key, v.Where(), err)
		}
	}
	if st, err := d.Quiet.Status(ctx); err == nil && len(st.Config.Problems) > 0 {
		return warn("look again in a moment", "%s is in order, but the daemon has not taken it yet", path)
	}
	if src == nil {
		return ok("%s does not exist: the defaults are in effect", path)
	}
	return ok("%s is in order", path)
}
