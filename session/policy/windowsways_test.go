package policy

import "testing"

// TestPowerShell_JoinsWordsBehindCommand checks that PowerShell joins all words behind -Command to one line, whether
// they are quoted or not.
//
// FAULT: G12
func TestPowerShell_JoinsWordsBehindCommand(t *testing.T) {
	checkKind(t, "hard", Line{Cwd: "/home/me/project", Home: "/home/me"}, `
		pwsh -Command Remove-Item -Recurse -Force /
		pwsh -Command 'Remove-Item -Recurse -Force /'
		pwsh -Command Remove-Item / -Recurse -Force
		pwsh -c Remove-Item -Recurse -Force ~
		pwsh -c Remove-Item -Recurse -Force /home/me
		pwsh -c rm -r -fo /etc
		pwsh -c rm -r -fo '/*'
		pwsh -com Remove-Item / -Recurse -Force
		pwsh -COMMAND Remove-Item / -Recurse -Force
		pwsh -NoProfile -NonInteractive -Command Remove-Item -Recurse -Force /
		pwsh -nop -c Remove-Item -Recurse -Force /
		pwsh -CommandWithArgs Remove-Item -Recurse -Force /
		pwsh -cwa Remove-Item -Recurse -Force /
		pwsh -Command '& { Remove-Item -Recurse /etc }'
		pwsh -Command Get-Item / '|' Remove-Item -Recurse -Force
		pwsh -Command cd / ';' Remove-Item -Recurse -Force '*'
		pwsh -Command Start-Process rm -ArgumentList '-rf /'
		pwsh -Command iex '$x'
		pwsh -Command dd if=/dev/zero of=/dev/sda
		pwsh -Command mkfs.ext4 /dev/sda1
		pwsh -Command sudo rm -rf /
		pwsh -Command bash -c 'rm -rf /'
		pwsh -ec UgBlAG0AbwB2AGUALQBJAHQAZQBtACAALQBSAGUAYwB1AHIAcwBlACAALwA=
		powershell Remove-Item -Recurse -Force /
		powershell -NoProfile Remove-Item -Recurse -Force /
		powershell.exe -Command Remove-Item -Recurse -Force C:\\
		powershell.exe -c Format-Volume -DriveLetter C
		PowerShell.exe -c Clear-Disk -Number 0
		/mnt/c/Windows/System32/WindowsPowerShell/v1.0/powershell.exe -c rd -r -fo C:\\
		echo 'Remove-Item -Recurse -Force /' | pwsh -Command -
		sudo pwsh -Command Remove-Item -Recurse -Force /
		env X=1 pwsh -Command Remove-Item -Recurse -Force /
		sh -c 'pwsh -Command Remove-Item -Recurse -Force /'
		xargs pwsh -Command Remove-Item -Recurse -Force /
		find . -exec pwsh -Command Remove-Item -Recurse -Force / \;
		timeout 5 pwsh -Command Remove-Item -Recurse -Force /
		nohup pwsh -c Remove-Item -Recurse -Force / &
		cmd.exe /c rd /s /q C:\\
		cmd.exe /d /c "rd /s /q C:\\"
		CMD.EXE /c del /f /s /q C:\\
		cmd.exe /c powershell -c Remove-Item -Recurse -Force C:\\
	`, `
		pwsh -Command Get-ChildItem -Recurse /
		pwsh -Command Remove-Item -Recurse -Force build
		pwsh -Command Remove-Item -Recurse -Force ./dist
		pwsh -Command ./build.ps1 -Target All
		pwsh -NoProfile -Command Write-Output hi
		pwsh -Command Get-Content x '|' Select-String y
		pwsh -File x.ps1
		pwsh -File x.ps1 -Recurse -Force /
		pwsh -Version
		pwsh
		cmd.exe /c dir
		cmd.exe /c echo hi
	`)
}

// TestDeniedProgram_FoundInContainersAndShells checks that a denied program is denied, or needs approval, also inside
// container and shell commands.
//
// FAULT: G12
func TestDeniedProgram_FoundInContainersAndShells(t *testing.T) {
	checkKind(t, "rule:deny curl", Line{Cwd: "/home/me/project", Home: "/home/me"}, `
		nerdctl run alpine curl x
		nerdctl run --rm -it -v a:/b alpine curl x
		nerdctl --namespace k8s.io run alpine curl x
		nerdctl -n k8s.io exec -it c curl x
		nerdctl exec c sh -c 'curl x'
		nerdctl compose exec c curl x
		nerdctl compose run c curl x
		nerdctl create alpine curl x
		nerdctl container run alpine curl x
		nerdctl container exec c curl x
		nerdctl run --entrypoint curl alpine x
		ctr run docker.io/library/alpine:latest x curl x
		ctr -n k8s.io run --rm img id curl x
		ctr task exec --exec-id 1 c curl x
		ctr tasks exec --exec-id 1 c curl x
		ctr t exec --exec-id 1 c curl x
		ctr c create img id curl x
		ctr containers create img id curl x
		docker container exec c curl x
		podman container run alpine curl x
		podman compose exec c curl x
		docker-compose exec c curl x
		podman-compose exec c curl x
		crictl exec c curl x
		kubectl run x --image=alpine -- curl x
		kubectl debug p --image=alpine -- curl x
		oc rsh p curl x
		lxc-attach -n c -- curl x
		npm run x --script-shell=curl
		npm run x --script-shell curl
		npm --script-shell=curl run x
		npm --script-shell /usr/bin/curl test
		npm exec --script-shell=curl x
		npm config set script-shell curl
		npm_config_script_shell=curl npm test
		pnpm run x --script-shell=curl
		yarn run x --script-shell=curl
		cmd /c curl x
		cmd.exe /c curl x
		cmd.exe /C "curl x"
		cmd.exe /k curl x
		cmd.exe /d /s /c "curl x"
		/mnt/c/Windows/System32/cmd.exe /c curl x
		CMD.EXE /c curl x
		powershell.exe -c curl x
		pwsh -Command curl x
		pwsh -NoProfile -Command curl -O x
		curl.exe x
	`, `
		nerdctl ps
		nerdctl build -t curl .
		nerdctl run alpine ls
		ctr images ls
		docker pull curl
		docker build -t curl .
		docker logs curl
		kubectl get pods
		npm test
		npm run curl
		cmd.exe /c dir
		pwsh -Command ls
	`)
	checkKind(t, "rule:deny git push", Line{Cwd: "/home/me/project", Home: "/home/me"}, `
		nerdctl exec c git push
		cmd.exe /c git push
		pwsh -Command git push
		ctr t exec --exec-id 1 c git push
	`, `
		nerdctl exec c git pull
		cmd.exe /c git pull
		pwsh -Command git pull
	`)
}
