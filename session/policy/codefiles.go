package policy

import (
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// removesIn finds the words by which code removes files.
var removesIn = pattern.Lazy(`rmtree|unlink|rmSync|rm_r|elete|emoveSync|\brm\(|remove|rmdir|rimraf|emptyDir|deltree`)

// removing are calls that remove a whole tree.
var removingCall = pattern.Lazy(`(?:\b(?:rmtree|remove_tree|rmSync|rmdirSync|rm_rf|rm_r|remove_entry(?:_secure)?|remove_dir|rm|rmdir|removeSync|` +
	`emptyDirSync|emptyDir|removedirs|Deno\.remove(?:Sync)?|deltree|del|unlink|delete-directory)|rimraf(?:["']\))?(?:\.sync)?)[ \t]*(\(|["'])`)

// homeIn are the expressions that stand for the user's directory.
var homeIn = pattern.Lazy(`(?:require\(\s*["'](?:node:)?os["']\s*\)|\bos)\.homedir\(\)|process\.env(?:\.HOME\b|\[\s*["']HOME["']\s*\])|` +
	`os\.path\.expanduser\(\s*["']~["']\s*\)|(?:pathlib\.)?Path\.home\(\)|os\.environ(?:\.get\(\s*["']HOME["']\s*\)|\[\s*["']HOME["']\s*\])|` +
	`(?:os\.)?getenv\(\s*["']HOME["']\s*\)|\bDir\.home\b|ENV(?:\[\s*["']HOME["']\s*\]|\.fetch\(\s*["']HOME["']\s*\))|\$ENV\{["']?HOME["']?\}|` +
	`Deno\.env\.get\(\s*["']HOME["']\s*\)|File\.expand_path\(\s*["']~["']\s*\)|\$_(?:SERVER|ENV)\[\s*["']HOME["']\s*\]|\bhomedir\(\)`)

// removed judges the trees that code removes, as far as they are written out: a literal, the user's directory.
func (w *walk) removed(lang, text string) {
	if !removesIn.MatchString(text) {
		return
	}
	text = homeIn.ReplaceAllString(text, strings.ReplaceAll(strconv.Quote(w.home), "$", ""))
	known := map[string]string{}
	for _, m := range given.FindAllStringSubmatch(text, 200) {
		known[m[1]] = m[2] + m[3]
	}
	for _, at := range removingCall.FindAllStringSubmatchIndex(text, maxCalls) {
		arg, ok := argument(text[at[2]:])
		if !ok {
			continue
		}
		items := topLevel(arg)
		if len(items) == 0 {
			continue
		}
		if tree := pieces(lang, items[0], known); tree != "" && !hasHole(tree) {
			tree = strings.ReplaceAll(tree, "*", globStar)
			w.only(func() { w.run([]string{"rm", "-rf", tree}, stream{}) })
		}
	}
}

// lispRuns are the functions of Lisps that run a program: its words are strings of their own, perhaps in a
// list, with keywords between them.
var lispRuns = pattern.Lazy(`\((?:[\w.:*+/-]*[/:])?(?:run-program|launch-program|system\*?|process\*?|shell|sh|call-process|start-process|` +
	`shell-command(?:-to-string)?|make-process|exec|open-process|run-shell-command|os/execute|os/shell|popen|open-pipe\*?)[ \t\n]`)

// lisp judges the programs that code in a Lisp runs.
func (w *walk) lisp(text string) {
	for _, at := range lispRuns.FindAllStringIndex(text, maxCalls) {
		form := text[at[0]:]
		if end := closing(form); end > 0 {
			form = form[:end+1]
		}
		var argv []string
		for _, p := range literal.FindAllString(form, 200) {
			if p[0] == '"' {
				argv = append(argv, ansiC(p[1:len(p)-1]))
			}
		}
		switch len(argv) {
		case 0:
		case 1:
			w.runsText(argv[0])
		default:
			w.mayAsk(func() { w.run(argv, stream{text: hole, is: true}) })
		}
	}
}
