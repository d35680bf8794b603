# clean: Windows helper, generic
param([string]$Partition = "debug", [string]$Account = "default")
$server = "localhost"; $port = 8080
Invoke-WebRequest "http://$server`:$port/health"
ssh "$env:USERNAME@$env:LOGIN" "sbatch -p $Partition -A $Account job.sh"
