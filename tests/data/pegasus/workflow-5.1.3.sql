PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE master_workflow (
	wf_id INTEGER NOT NULL, 
	wf_uuid VARCHAR(255) NOT NULL, 
	dax_label VARCHAR(255), 
	dax_version VARCHAR(255), 
	dax_file VARCHAR(255), 
	dag_file_name VARCHAR(255), 
	timestamp NUMERIC(16, 6), 
	submit_hostname VARCHAR(255), 
	submit_dir TEXT, 
	planner_arguments TEXT, 
	user VARCHAR(255), 
	grid_dn VARCHAR(255), 
	planner_version VARCHAR(255), 
	db_url TEXT, 
	archived BOOLEAN NOT NULL, 
	PRIMARY KEY (wf_id), 
	CHECK (archived IN (0, 1)), 
	CONSTRAINT "UNIQUE_MASTER_WF_UUID" UNIQUE (wf_uuid)
);
INSERT INTO master_workflow VALUES(1,'6a1f8c51-0f5d-4a37-9c0e-2b8d3f6e7a10','soykb','5.0','/data/soykb/soykb.yml','soykb-0.dag',1795168740,'submit.example.edu','/data/soykb/runs/run0001',NULL,'soykb',NULL,'5.1.3','sqlite:////data/soykb/runs/run0001/soykb-0.stampede.db',0);
INSERT INTO master_workflow VALUES(2,'6a1f8c52-0f5d-4a37-9c0e-2b8d3f6e7a10','soykb','5.0','/data/soykb/soykb.yml','soykb-0.dag',1795168740,'submit.example.edu','/data/soykb/runs/run0002',NULL,'soykb',NULL,'5.1.3','sqlite:////data/soykb/runs/run0002/soykb-0.stampede.db',0);
INSERT INTO master_workflow VALUES(3,'6a1f8c53-0f5d-4a37-9c0e-2b8d3f6e7a10','soykb','5.0','/data/soykb/soykb.yml','soykb-0.dag',1795168740,'submit.example.edu','/data/soykb/runs/run0003',NULL,'soykb',NULL,'5.1.3','sqlite:////data/soykb/runs/run0003/soykb-0.stampede.db',0);
INSERT INTO master_workflow VALUES(4,'6a1f8c55-0f5d-4a37-9c0e-2b8d3f6e7a10','soykb','5.0','/data/soykb/soykb.yml','soykb-0.dag',1795168740,'submit.example.edu','/data/soykb/runs/run0005',NULL,'soykb',NULL,'5.1.3','sqlite:////data/soykb/runs/run0005/soykb-0.stampede.db',0);
CREATE TABLE master_workflowstate (
	wf_id INTEGER NOT NULL, 
	state VARCHAR(19) NOT NULL, 
	timestamp NUMERIC(16, 6) NOT NULL, 
	restart_count INTEGER NOT NULL, 
	status INTEGER, 
	reason TEXT, 
	PRIMARY KEY (wf_id, state, timestamp), 
	FOREIGN KEY(wf_id) REFERENCES master_workflow (wf_id) ON DELETE CASCADE, 
	CONSTRAINT master_workflow_state CHECK (state IN ('WORKFLOW_STARTED', 'WORKFLOW_TERMINATED'))
);
INSERT INTO master_workflowstate VALUES(1,'WORKFLOW_STARTED',1795168800,0,NULL,NULL);
INSERT INTO master_workflowstate VALUES(1,'WORKFLOW_TERMINATED',1795180230,0,0,NULL);
INSERT INTO master_workflowstate VALUES(2,'WORKFLOW_STARTED',1795168800,0,NULL,NULL);
INSERT INTO master_workflowstate VALUES(2,'WORKFLOW_TERMINATED',1795176190,0,1,NULL);
INSERT INTO master_workflowstate VALUES(3,'WORKFLOW_STARTED',1795168800,0,NULL,NULL);
INSERT INTO master_workflowstate VALUES(4,'WORKFLOW_STARTED',1795168800,0,NULL,NULL);
COMMIT;
