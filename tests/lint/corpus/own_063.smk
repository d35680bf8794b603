rule train:
    input: "/msfs/phylo/aln/{sample}.fa"
    output: "out/{sample}.tree"
    resources:
        slurm_partition="phyl_long",
        slurm_account="phylo-9",
        runtime=600, mem_mb=16000
    shell:
        "iqtree -s {input} -T 8"
