package programs

// git has a row for each subcommand that reads; every other subcommand changes something.
var git = []Program{
	{Name: "git", Stop: true, Values: "-C -c --git-dir --work-tree --namespace --config-env " +
		"--super-prefix", Loads: "--exec-path",
		Unsafe:  "-C -c --git-dir --work-tree --config-env --namespace -p --paginate --bare",
		SubOnly: true,
		Flags:   "--no-pager --version --help --no-optional-locks --literal-pathspecs"},
	{Name: "git status,git blame,git annotate,git rev-parse,git describe,git ls-files,git ls-tree,git merge-base," +
		"git name-rev,git cherry,git count-objects,git for-each-ref,git show-ref,git var,git version,git check-ignore," +
		"git check-attr,git show-branch,git verify-commit,git verify-tag,git cat-file,git fsck,git get-tar-commit-id",
		Reads: true,
		Values: "-n -S -G -L -e -A --author --since --until --format --grep --max-count " +
			"--date --before --after",
		Flags: "--oneline --graph --all --stat --name-only --name-status --no-pager --cached --staged " +
			"--short --branch",
		Unsafe: "--ext-diff --textconv --output -O --open-files-in-pager --filters --show-signature --web " +
			"--contents " +
			"--lost-found --upload-pack --exec"},
	{Name: "git help", Reads: true, Unsafe: "-w --web"},
	{Name: "git grep", Reads: true, Values: "-e -f -m -A -B -C --max-depth --max-count --threads", Flags: "--cached " +
		"--no-index --untracked", Shell: "-O --open-files-in-pager",
		Unsafe: "--textconv --ext-grep"},
	{Name: "git diff,git log,git show,git diff-tree,git diff-index,git diff-files,git whatchanged,git shortlog,git " +
		"range-diff,git rev-list", Reads: true, Writes: "--output",
		Values: "-n -S -G -L --author --since --until --grep --max-count --date --before --after " +
			"--diff-filter",
		Flags: "--oneline --graph --all --stat --name-only --name-status --no-pager --cached --staged --short " +
			"--branch", Unsafe: "--ext-diff --textconv -O --show-signature --web --contents"},
	{Name: "git difftool,git mergetool", Values: "-t --tool", Shell: "-x --extcmd"},
	{Name: "git archive", Values: "-o --format --prefix --remote --add-file", Writes: "-o --output",
		Shell: "--exec"},
	{Name: "git ls-remote", Shell: "--upload-pack --exec", Values: "-o --sort --server-option"},
	{Name: "git format-patch", Values: "-v --subject-prefix --to --cc", Writes: "-o --output-directory --output"},
	{Name: "git bundle create", WriteTo: FirstOperand},
	{Name: "git worktree remove", Removes: AllOperands, Flags: "--force"},
	{Name: "git send-email", Shell: "--smtp-server --sendmail-cmd --to-cmd --cc-cmd --header-cmd", Values: "--to --from --subject"},
	{Name: "git daemon", Values: "--base-path --port --listen --user --group --pid-file", Shell: "--access-hook"},
	{Name: "git instaweb", Values: "-p --port -m --module-path", Runs: "-b --browser -d --httpd"},
	{Name: "git branch", Reads: true, Values: "--contains --no-contains --merged --no-merged --points-at " +
		"--sort --format",
		NeedArg: "-l --list --contains --no-contains --merged --no-merged --points-at",
		Unsafe: "-d -D -m -M -c -C -f -u --delete --move --copy --force --set-upstream-to --unset-upstream " +
			"--edit-description --track -t"},
	{Name: "git tag", Reads: true, NeedArg: "-l --list --contains --points-at -v --verify", Values: "-n " +
		"--sort --format",
		Unsafe: "-d -a -s -u -f -m -F --delete --annotate --sign --force --message --file -e --edit"},
	{Name: "git config", Reads: true, Need: "-l --list --get --get-all --get-regexp --get-urlmatch get " +
		"list", Values: "--type --default",
		Unsafe: "--add --unset --unset-all --replace-all --rename-section --remove-section -e --edit --blob", Writes: "-f --file"},
	{Name: "git remote", Reads: true, None: true}, {Name: "git remote get-url", Reads: true},
	{Name: "git stash list,git stash show,git worktree list,git submodule status,git notes list,git notes " +
		"show,git bisect log," +
		"git bundle verify,git lfs ls-files,git lfs status,git reflog show", Reads: true, Unsafe: "--output " +
		"--ext-diff --textconv"},
	{Name: "git reflog", Reads: true, None: true, Strict: true, Values: "-n --date --max-count", Flags: "--all --oneline --no-abbrev --abbrev-commit --stat -p -q"},
	{Name: "git symbolic-ref", Reads: true, Max: 1, Unsafe: "-d --delete -m"},
	{Name: "git push", Values: "-o --push-option --repo", Shell: "--receive-pack --exec",
		Flags: "--force --force-with-lease --force-if-includes --delete --mirror --all --tags --prune " +
			"--dry-run --set-upstream " +
			"--follow-tags --atomic --no-verify --quiet --verbose"},
	{Name: "git clean", Values: "-e --exclude", Flags: "--force --dry-run --quiet --interactive",
		Removes: AllOperands},
	{Name: "git clone", Shell: "-u --upload-pack", Values: "-b -c -o --branch --config --origin --depth " +
		"--reference", Loads: "--template"},
	{Name: "git init", Values: "-b --initial-branch --separate-git-dir --object-format", Loads: "--template"},
	{Name: "git fetch,git pull", Shell: "--upload-pack", Values: "--depth -j", Flags: "--all --prune --tags"},
	{Name: "git commit", Values: "-m -F -C -c -t --message --file --author --date --fixup --squash " +
		"--reuse-message --template"},
	{Name: "git rm", Flags: "--cached --force --quiet --dry-run"},
	{Name: "git stash,git add,git checkout,git switch,git restore,git reset,git revert,git merge,git " +
		"cherry-pick,git apply,git am," +
		"git gc,git update-ref,git remote add,git worktree,git mv,git " +
		"submodule,git bisect"},
}
