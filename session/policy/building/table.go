package building

import (
	"slices"
	"strings"
	"sync"
)

// Program lists the allowed arguments of a building program, as blank-separated words.
type Program struct {
	Subs   string // its subcommands; empty: its operands are files, or named by the project
	Texts  string // options whose value is text, in which nothing is a path
	Places string // options whose value is only stored, or a system directory that is only read
	// options that need approval: they run or load foreign code, or send data away; "x*" matches a prefix
	Asks  string
	Goals string // its only operands; "x:*" matches a prefix
	Only  string // it must stay in the project and has only these options: "-f=" takes a value, possibly joined
	Old   bool   // its first word is letters of options, as in tar
	Abbr  bool   // it accepts abbreviated long options
}

// compilerAsks are compiler options that need approval; the table of programs has their plugins.
const compilerAsks = "-wrapper -fplugin=* -specs=* --specs=* -B* -gccgoflags*"

// table has a row for each program.
var table = sync.OnceValue(func() map[string]*Program {
	rows := map[string]Program{
		"go": {
			Subs:  "build test vet fmt run list mod generate version env doc tool install clean work",
			Texts: "-run -bench -skip -tags -count -timeout", Asks: "-toolexec -exec -vettool -gccgoflags -compiler -w -u -modfile -overlay",
		},
		"cargo": {Subs: "build test check clippy fmt run doc bench clean tree metadata nextest llvm-cov locate-project", Asks: "--config -Z --registry --index"},
		"npm,pnpm,yarn,bun": {
			Abbr: true, Subs: "test run ci ls list start build", Texts: "-m --message",
			Asks: "--script-shell --node-options --userconfig --globalconfig --registry --git --shell --ignore-scripts=false --init-module --onload-script --scripts-prepend-node-path " +
				"--preload --import --require --config --bun",
		},
		"make,gmake": {Asks: "--eval -E"},
		"cmake": {Places: "-DCMAKE_INSTALL_* -DCMAKE_PREFIX_PATH* --install-prefix --prefix", Asks: "--install --open --debugger --preset -DCMAKE_*_LAUNCHER* " +
			"-DCMAKE_*_LINKER* -DCMAKE_*_CLANG_TIDY* -DCMAKE_*_CPPCHECK* -DCMAKE_*_INCLUDE_WHAT_YOU_USE* -DCMAKE_*_CPPLINT* -DCMAKE_MAKE_PROGRAM*"},
		"ninja":     {},
		"meson":     {Abbr: true, Places: "--prefix --libdir --bindir --datadir --sysconfdir --localstatedir --mandir --includedir", Subs: "setup compile test configure introspect init format", Asks: "--wrapper --gdb --gdb-path --native-file --cross-file"},
		"ctest":     {Texts: "-R -E -L -LE", Asks: "-S -SP --script --script-new-process --build-and-test --launch -D --dashboard -M -T --submit-index"},
		"configure": {Places: "--prefix --exec-prefix --bindir --sbindir --libdir --libexecdir --sysconfdir --localstatedir --sharedstatedir --includedir --datadir --datarootdir --mandir --infodir --docdir"},
		"pytest":    {Texts: "-k -m -r", Asks: "--basetemp --pastebin --override-ini -o --debugger --pdbcls --import-mode --remote-data --tx --rsyncdir"},
		"tox":       {Asks: "exec e devenv -x --override --discover --installpkg --force-dep -i --pip-pre"},
		"mvn": {Goals: "clean compile test package verify install validate site initialize test-compile process-resources process-classes " +
			"integration-test dependency:tree dependency:resolve dependency:analyze dependency:list surefire:test failsafe:* help:* versions:display-* spotless:* checkstyle:* compiler:* jar:jar",
			Asks: "-Dmaven.ext.class.path* -Dexec.* -Dmaven.compiler.executable* -s --settings -gs --global-settings -t --toolchains -Dmaven.repo.remote* -DremoteRepositories* -Djvm*"},
		"gradle":          {Asks: "-I --init-script -D* --include-build --scan"},
		"bazel":           {Subs: "build test query", Asks: "--run_under --script_path --override_repository --workspace_status_command --bes_backend --remote_executor --remote_cache --extra_toolchains --shell_executable"},
		"gofmt,goimports": {Texts: "-r -local"},
		"tsc,prettier,stylelint,biome,oxlint,tsup,svelte-check,vue-tsc,vitest,vite,webpack,rollup,esbuild,parcel,swc,mocha,ava,next,nuxt,ng,astro,knip": {Asks: "login link telemetry add update create new deploy"},
		"turbo,playwright,cypress": {Asks: "login link install install-deps open exec --exec"},
		"tsx,ts-node,nodemon":      {Asks: "-e --eval -p --print -r --require --import --loader -x --exec --repl -i"},
		"golangci-lint":            {Subs: "run linters help version fmt config"},
		"pre-commit":               {Subs: "run validate-config validate-manifest"},
		"staticcheck,shellcheck,yamllint,markdownlint,hadolint,actionlint,cspell,codespell,vale,pyright,bandit,ldd,dot,deadcode,errcheck,ineffassign,misspell,gocyclo": {},
		"pylint":                       {Abbr: true, Asks: "--init-hook --load-plugins"},
		"nox":                          {Asks: "--force-venv-backend"},
		"rspec":                        {Asks: "-r --require -I --options -O"},
		"rubocop":                      {Asks: "-r --require --plugin"},
		"rake":                         {Asks: "-e -E -p -r -I --execute --execute-print --execute-continue --require --libdir -R --rakelibdir -g --system"},
		"mix":                          {Subs: "test compile format credo dialyzer xref docs", Asks: "-r --require -e"},
		"dotnet":                       {Subs: "build test clean format restore run", Asks: "--source -s --configfile --logger -l --collect --settings -p:* /p:*"},
		"swift":                        {Subs: "build test run", Asks: "-Xcc -Xlinker -Xswiftc -Xcxx --toolset --destination --sdk --swift-sdk"},
		"zig":                          {Subs: "build test fmt run build-exe build-lib build-obj ast-check version env", Asks: "--test-cmd* --test-cmd-bin --zig-lib-dir --libc"},
		"stack":                        {Subs: "build test", Asks: "--exec --stack-yaml --setup-info-yaml --with-gcc --docker*"},
		"cabal":                        {Subs: "build test check haddock clean", Asks: "--with-* -w --config-file --project-file"},
		"dune":                         {Subs: "build test runtest fmt clean", Asks: "--root --workspace"},
		"rebar3":                       {Subs: "compile eunit ct dialyzer xref clean"},
		"lein":                         {Subs: "test compile uberjar jar run check"},
		"sbt":                          {Goals: "compile test run clean package doc Test/compile testOnly* testQuick scalafmt scalafmtCheck"},
		"composer":                     {Subs: "test validate check-platform-reqs show", Asks: "--working-dir -d"},
		"javac":                        {Asks: "-J* @*"},
		"java":                         {Asks: "-XX:On* -XX:Flags* -agentlib* -agentpath* -javaagent* -Xrun* -Xbootclasspath* -XX:VMOptionsFile* -XX:+Flight* @*"},
		"ghc":                          {Asks: "-pgm* -F -package-db* --interactive -e -fplugin* -ghci-script"},
		"kotlinc":                      {Asks: "-Xplugin* -script -J* -kotlin-home"},
		"terraform":                    {Subs: "validate fmt version"},
		"helm":                         {Subs: "lint", Asks: "--post-renderer*"},
		"buf":                          {Subs: "lint format breaking"},
		"protoc":                       {Asks: "--plugin* @*"},
		"sqlc,templ":                   {Subs: "generate fmt version compile vet"},
		"mockgen,stringer,swag,wire":   {Asks: "-exec_only -build_flags -self_package -prog_only -mod_file"},
		"nvm":                          {Subs: "use ls list current version which"},
		"pyenv,rbenv":                  {Subs: "version versions which prefix root"},
		"rustup":                       {Subs: "show which"},
		"eslint":                       {Asks: "--resolve-plugins-relative-to"},
		"jest":                         {Texts: "-t --testNamePattern"},
		"ruff":                         {},
		"black":                        {},
		"isort":                        {},
		"flake8":                       {},
		"mypy":                         {Abbr: true, Asks: "--python-executable --install-types --shadow-file"},
		"gcc,cc,g++,c++,clang,clang++": {Asks: compilerAsks},
		"rustc":                        {Asks: "-Clinker* linker=* --codegen linker* link-arg* -Clink-arg* -Zcodegen-backend* codegen-backend*"},
		"just,task":                    {Asks: "-c --command --shell --shell-arg --set-shell --taskfile-remote --experiments -g --global -g*"},
		"mkdir,touch":                  {},
		"cp": {Only: "-a -b -d -f -H -i -l -L -n -p -P -r -R -s -S= -t= -T -u -v -x --archive --attributes-only --backup --dereference --force --interactive " +
			"--link --no-clobber --no-dereference --no-preserve --no-target-directory --one-file-system --parents --preserve --recursive --reflink " +
			"--remove-destination --sparse --strip-trailing-slashes --suffix --symbolic-link --target-directory --update --verbose"},
		"mv": {Only: "-b -f -i -n -S= -t= -T -u -v --backup --force --interactive --no-clobber --no-target-directory --strip-trailing-slashes --suffix " +
			"--target-directory --update --verbose"},
		"ln": {Only: "-b -f -i -L -n -P -r -s -S= -t= -T -v --backup --force --interactive --no-dereference --no-target-directory --relative --suffix " +
			"--symbolic --target-directory --verbose"},
		"chmod": {Only: "-c -f -R -v -r -w -x -X --changes --preserve-root --quiet --recursive --reference --silent --verbose"}, // -x is a mode
		"tee":   {Only: "-a -i -p --append --ignore-interrupts --output-error"},
		"tar,bsdtar": {Old: true, Only: "-a -c -C= -f= -h -j -J -k -m -o -O -p -r -S -t -u -v -x -X= -z -Z --append --auto-compress --bzip2 --checkpoint --create " +
			"--dereference --directory --exclude --exclude-from --exclude-vcs --extract --file --format --get --group --gunzip --gzip --keep-old-files --list " +
			"--lzma --mtime --no-recursion --no-same-owner --no-same-permissions --numeric-owner --one-top-level --overwrite --owner --preserve-permissions " +
			"--same-permissions --skip-old-files --sort --strip-components --to-stdout --totals --touch --update --verbose --wildcards --xz --zstd"},
		"zip": {Only: "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -D -g -i -j -l -q -r -S -u -v -x -X -y --exclude --grow --include --junk-paths --no-dir-entries --no-extra " +
			"--quiet --recurse-paths --symlinks --update --verbose"},
		"unzip": {Only: "-a -d= -f -j -l -L -n -o -p -q -t -u -v -x -z -Z"},
		"gunzip,gzip,bzip2,bunzip2,xz,unxz,zstd": {Only: "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -c -d -e -f -k -l -n -o -q -r -t -T -v -z --best --compress --decompress " +
			"--extreme --fast --force --keep --list --long --quiet --stdout --test --threads --ultra --verbose"},
		"patch": {Only: "-b -E -f -F= -i= -l -N -o= -p= -r= -R -s -t -u --backup --batch --dry-run --force --forward --fuzz --ignore-whitespace --input --merge " +
			"--no-backup-if-mismatch --output --quiet --reject-file --remove-empty-files --reverse --silent --strip --unified --verbose"},
		"sed": {Only: "-b -e= -E -i= -l= -n -r -s -u -z --binary --debug --expression --in-place --line-length --null-data --posix --quiet --regexp-extended " +
			"--sandbox --separate --silent --unbuffered"},
		"ar,ranlib,as,nasm,yasm,flex,bison,indent,gcov,cppcheck,clang-format,doxygen": {Asks: "--plugin"},
		"clang-tidy": {Asks: "-load --load*"},
		"ctags":      {Asks: "--options --optlib-dir"},
		"git": {
			Abbr: true, Subs: "init add commit stash fetch checkout switch restore branch tag reset apply am merge rebase cherry-pick revert pull format-patch worktree bisect mv rm", Texts: "-m --message --author --date --trailer",
			Asks: "--upload-pack --template -t --exec -x --unsafe-paths --directory --strategy -s run --receive-pack remove prune",
		},
	}
	byName := map[string]*Program{}
	for names, row := range rows {
		for name := range strings.SplitSeq(names, ",") {
			p := row
			byName[name] = &p
		}
	}
	return byName
})

// Lookup returns the row of a building program, or nil.
func Lookup(name string) *Program { return table()[name] }

// AllowsSubcommand reports whether a subcommand only builds; of a program without subcommands each word does.
func (p *Program) AllowsSubcommand(sub string) bool { return p.Subs == "" || listHas(p.Subs, sub) }

// listHas reports whether a list contains a word; "x*" matches a prefix, "a*b" prefix and suffix.
func listHas(list, word string) bool {
	for one := range strings.FieldsSeq(list) {
		begin, end, open := strings.Cut(one, "*")
		if !open && one == word {
			return true
		}
		if !open || !strings.HasPrefix(word, begin) {
			continue
		}
		if end = strings.TrimSuffix(end, "*"); end == "" || strings.Contains(word[len(begin):], end) {
			return true
		}
	}
	return false
}

// Option returns the argument by which a program does more than build, or "".
func (p *Program) Option(words []string) string {
	for i, word := range words {
		name, _, _ := strings.Cut(word, "=")
		if listHas(p.Asks, name) || listHas(p.Asks, word) || p.Abbr && abbreviates(name, p.Asks) || p.Only != "" && !p.allows(word, p.Old && i == 0) {
			return word
		}
		if p.Goals != "" && !strings.HasPrefix(word, "-") && !listHas(p.Goals, word) {
			return word
		}
	}
	return ""
}

// abbreviates reports whether a word is an abbreviation of a long option of a list.
func abbreviates(name, list string) bool {
	return len(name) > 2 && strings.HasPrefix(name, "--") && strings.Contains(" "+list, " "+name)
}

// allows reports whether a word is an operand or options of Only. It also checks words after "--" or after an option
// with a value: programs disagree about values, and project files need no leading dash. letters states tar's old form.
func (p *Program) allows(word string, letters bool) bool {
	switch {
	case letters && !strings.HasPrefix(word, "-"):
		return !strings.ContainsFunc(word, func(r rune) bool { return !listHas(p.Only, "-"+string(r)) && !listHas(p.Only, "-"+string(r)+"=") })
	case len(word) < 2 || word[0] != '-' || word == "--":
		return true
	case word[1] == '-':
		name, _, _ := strings.Cut(word, "=")
		return listHas(p.Only, name)
	}
	for _, r := range word[1:] {
		if listHas(p.Only, "-"+string(r)+"=") {
			return true // the rest is its value
		}
		if !listHas(p.Only, "-"+string(r)) {
			return false
		}
	}
	return true
}

// isMessage reports whether a word is -m behind options without a value: git commit -am TEXT.
func isMessage(word string) bool {
	return len(word) > 2 && word[0] == '-' && strings.HasSuffix(word, "m") && consistsOf(word[1:len(word)-1], "asvqn")
}

// IsText reports whether a word is free text, and no path or command: the value of an option such as -m, as the next word or joined to it.
func (p *Program) IsText(before, word string) bool {
	name, _, joined := strings.Cut(word, "=")
	return listHas(p.Texts, before) || joined && listHas(p.Texts, name) || listHas(p.Texts, "-m") && (strings.HasPrefix(word, "-m") || isMessage(before))
}

// IsPlace reports whether a word names a place that is only kept or read.
func (p *Program) IsPlace(word string) bool {
	name, _, joined := strings.Cut(word, "=")
	return joined && (listHas(p.Places, name) || listHas(p.Places, word))
}

// publishWords are parts of names that projects use for publishing.
var publishWords = strings.Fields("publish deploy release upload uploadarchives uninstall sitedeploy publishtomavenlocal closeandreleaserepository")

// PublishOperand returns the operand by which something leaves the project (make install, gradle publish, npm run deploy),
// or "".
func PublishOperand(program string, operands []string) string {
	if program == "git" {
		return "" // its words are branches, files and messages, and no goals
	}
	if program == "cmake" { // its targets are those of make
		if target := PublishOperand("make", targetsOfCMake(operands)); target != "" {
			return target
		}
	}
	for _, word := range operands {
		if strings.HasPrefix(word, "-") {
			continue
		}
		parts := strings.FieldsFunc(strings.ToLower(word), func(r rune) bool { return strings.ContainsRune(":-_./", r) })
		for _, part := range parts {
			switch {
			case slices.Contains(publishWords, part), strings.HasPrefix(part, "publish"), strings.HasPrefix(part, "deploy"):
				return word
			case part == "install" && installers[program], part == "register" && program == "setup.py":
				return word
			}
		}
	}
	return ""
}

// installers are programs whose word install writes to the system, or a home.
var installers = map[string]bool{"make": true, "gmake": true, "ninja": true, "meson": true, "just": true, "task": true, "rake": true,
	"setup.py": true}

// targetsOfCMake returns the targets that cmake --build makes, and the words for the program that it runs.
func targetsOfCMake(args []string) (targets []string) {
	if !slices.ContainsFunc(args, func(a string) bool { return a == "--build" || strings.HasPrefix(a, "--build=") }) {
		if i := slices.Index(args, "-P"); i >= 0 && i+1 < len(args) && strings.HasSuffix(args[i+1], "cmake_install.cmake") {
			return []string{"install"} // the script that the target runs
		}
		return nil
	}
	listed := false
	for i, a := range args {
		switch value, joined := strings.CutPrefix(a, "--target="); {
		case joined:
			targets = append(targets, value)
		case a == "--":
			return append(targets, args[i+1:]...)
		case a == "--target" || a == "-t":
			listed = true
		case strings.HasPrefix(a, "-t"):
			targets = append(targets, a[2:])
		case strings.HasPrefix(a, "-"):
			listed = false
		case listed:
			targets = append(targets, a)
		}
	}
	return targets
}
